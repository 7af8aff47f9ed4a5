import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';

/** Where ip(8) has the names of namespaces. */
const folder = '/run/netns';

/** Removes the namespaces of test processes that were killed before they could. */
function removeAbandoned(): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const pid = /^rt-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    try {
      run('ip', ['netns', 'del', name]);
    } catch (error) {
      // Another test process removes them too.
      if (existsSync(`${folder}/${name}`)) throw error;
    }
  }
}

/** An LB and its members, each in a network namespace of its own, each member on its own link to the LB. */
export class LbNamespaces {
  readonly lb: string;
  readonly members: readonly {
    readonly name: string;
    readonly namespace: string;
    readonly address: string;
  }[];

  constructor(names: readonly string[]) {
    removeAbandoned();
    const prefix = `rt-${process.pid}-${randomBytes(3).toString('hex')}`;
    this.lb = `${prefix}-lb`;
    this.members = names.map((name, i) => ({
      name,
      namespace: `${prefix}-${name}`,
      address: `10.0.${i + 1}.11`,
    }));
    try {
      this.#build();
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  /** Runs ip(8) in the LB's namespace. */
  ip(...argv: string[]): string {
    return run('ip', ['-n', this.lb, ...argv]);
  }

  /** Runs many commands of ip(8) in the LB's namespace at once, one on a line: a burst. */
  batch(commands: readonly string[]): void {
    execFileSync('ip', ['-n', this.lb, '-batch', '-'], { input: commands.join('\n') });
  }

  /** Runs ip(8) in the LB's namespace and reads its JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape is iproute2's, and a test looks at single fields of it
  json(...argv: string[]): any[] {
    const text = this.ip('-j', '-d', ...argv).trim();
    return text === '' ? [] : JSON.parse(text);
  }

  /** Runs any program in the LB's namespace. */
  exec(...argv: string[]): string {
    return run('ip', ['netns', 'exec', this.lb, ...argv]);
  }

  /** Takes the carrier from the LB's link to a member, or gives it back, by the far end. */
  setCarrier(member: string, state: 'up' | 'down'): void {
    const { namespace } = this.member(member);
    run('ip', ['-n', namespace, 'link', 'set', 'eth0', state]);
  }

  member(name: string): { readonly namespace: string; readonly address: string } {
    const member = this.members.find((candidate) => candidate.name === name);
    if (member === undefined) {
      throw new RangeError(`no member ${name}`);
    }
    return member;
  }

  remove(): void {
    for (const namespace of [this.lb, ...this.members.map((member) => member.namespace)]) {
      try {
        run('ip', ['netns', 'del', namespace]);
      } catch {
        // It was never made, or is gone.
      }
    }
  }

  #build(): void {
    run('ip', ['netns', 'add', this.lb]);
    this.ip('link', 'set', 'lo', 'up');
    for (const [i, { name, namespace, address }] of this.members.entries()) {
      const subnet = `10.0.${i + 1}`;
      run('ip', ['netns', 'add', namespace]);
      this.ip('link', 'add', `to-${name}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
      this.ip('addr', 'add', `${subnet}.10/24`, 'dev', `to-${name}`);
      this.ip('link', 'set', `to-${name}`, 'up');
      run('ip', ['-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0']);
      run('ip', ['-n', namespace, 'addr', 'add', '10.100.0.1/32', 'dev', 'lo']);
      run('ip', ['-n', namespace, 'link', 'set', 'lo', 'up']);
      run('ip', ['-n', namespace, 'link', 'set', 'eth0', 'up']);
      run('ip', ['-n', namespace, 'route', 'add', 'default', 'via', `${subnet}.10`]);
    }
  }
}

function run(program: string, argv: readonly string[]): string {
  return execFileSync(program, argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
