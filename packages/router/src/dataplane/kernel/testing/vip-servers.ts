import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { LbNamespaces } from './lb-namespaces.ts';

/** Small servers and clients in the members' namespaces. */
export class VipServers {
  readonly #lab: LbNamespaces;
  readonly #children = new Set<ChildProcess>();

  constructor(lab: LbNamespaces) {
    this.#lab = lab;
  }

  /** Answers each connection on all addresses of the member with `text`. Resolves when it listens. */
  serve(member: string, text: string, port = 6443): Promise<void> {
    return this.#serve(member, `'${text}'`, port);
  }

  /** Answers each connection with the octets that it would send to the client in a segment. */
  serveSegmentSize(member: string): Promise<void> {
    const ss = `require('node:child_process').execFileSync('ss', ['-Htin', 'state', 'established', 'sport', '=', ':6443'])`;
    return this.#serve(member, `/\\bmss:(\\d+)/.exec(String(${ss}))[1]`, 6443);
  }

  /** @param answer an expression */
  async #serve(member: string, answer: string, port: number): Promise<void> {
    const child = this.#run(
      member,
      `require('node:net').createServer((s) => { s.on('error', () => {}); s.end(${answer}); })
         .listen(${port}, '::', 1024, () => console.log('up'))`,
    );
    await once(child.stdout ?? child, 'data');
  }

  /** Connects from a member's namespace to the VIP: what is read first, or the error's code. */
  async connect(from: string, port = 6443): Promise<string> {
    const child = this.#run(
      from,
      `const s = require('node:net').connect({ host: '10.100.0.1', port: ${port} });
       s.setTimeout(3000, () => { console.log('timeout'); process.exit(); });
       s.on('data', (d) => console.log(String(d))); s.on('error', (e) => console.log(e.code));`,
    );
    const [data] = await once(child.stdout ?? child, 'data');
    this.#end(child);
    return String(data).trim();
  }

  /** Opens so many connections from a member's namespace to a VIP at once, and closes them. @returns how many were accepted in time */
  async connectMany(from: string, host: string, count: number): Promise<number> {
    const child = this.#run(
      from,
      `let left = ${count}, good = 0;
       const end = () => { if (--left === 0) console.log(good); };
       for (let i = left; i > 0; i--) {
         const s = require('node:net').connect({ host: '${host}', port: 6443 });
         s.setTimeout(900, () => s.destroy()); s.on('error', () => {}); s.on('close', end);
         s.on('connect', () => { good++; s.destroy(); });
       }`,
    );
    const [data] = await once(child.stdout ?? child, 'data');
    this.#end(child);
    return Number(data);
  }

  close(): void {
    for (const child of this.#children) {
      this.#end(child);
    }
  }

  #run(member: string, program: string): ChildProcess {
    const { namespace } = this.#lab.member(member);
    const argv = ['netns', 'exec', namespace, process.execPath, '-e', program];
    const child = spawn('ip', argv, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#children.add(child);
    return child;
  }

  #end(child: ChildProcess): void {
    child.kill('SIGKILL');
    this.#children.delete(child);
  }
}
