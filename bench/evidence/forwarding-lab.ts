/** A client, a load balancer and a member in network namespaces, packets of the client forwarded by the kernel alone. */
import { fileURLToPath } from 'node:url';
import { evidenceTable } from '@bgp-lb/router/evidence-table';
import { EVIDENCE_TABLE, nftCommands } from '@bgp-lb/router/nft-table';
import { runCommand } from '../../scripts/lab/run-command.ts';

const VIP = { address: '10.100.0.1', port: 6443 };
const CLIENT = '10.0.1.1';
const sender = fileURLToPath(new URL('./programs/send-segments.pl', import.meta.url));

/** What is sent: a segment that begins a connection, or one of a connection that goes on. */
export type SegmentKind = 'syn' | 'ack';

export class ForwardingLab {
  readonly #names = ['client', 'lb', 'member'].map((role) => `bench-evidence-${process.pid}-${role}`);

  static async create(): Promise<ForwardingLab> {
    const lab = new ForwardingLab();
    try {
      await lab.#build();
    } catch (error) {
      await lab.remove();
      throw error;
    }
    return lab;
  }

  /** Makes the router's table that counts what clients send, or takes it away. */
  async setEvidence(isOn: boolean): Promise<void> {
    const table = { family: 'ip', name: EVIDENCE_TABLE };
    const commands = isOn
      ? nftCommands(evidenceTable(4, [VIP]))
      : [{ add: { table } }, { delete: { table } }];
    // nft opens /dev/stdin by its path, which fails for the socket that Node.js gives it.
    await this.#in('lb', ['sh', '-c', 'cat | nft -j -f -'], JSON.stringify({ nftables: commands }));
  }

  /** @returns microseconds of the processor that each segment took on its way to the member, one after the other */
  async send(kind: SegmentKind, count: number): Promise<number> {
    const took = await this.#in('client', [
      'perl',
      sender,
      CLIENT,
      VIP.address,
      String(VIP.port),
      kind,
      String(count),
    ]);
    return Number(took) / count / 1000;
  }

  /** Segments that have reached the member since it was there. */
  async received(): Promise<number> {
    const listed = await this.#in('member', ['nft', 'list', 'table', 'ip', 'sink']);
    return Number(/packets (\d+)/.exec(listed)?.[1]);
  }

  async remove(): Promise<void> {
    for (const name of this.#names) await runCommand(['ip', 'netns', 'del', name]).catch(() => undefined);
  }

  async #build(): Promise<void> {
    const [client = '', lb = '', member = ''] = this.#names;
    for (const name of this.#names) await runCommand(['ip', 'netns', 'add', name]);
    for (const [name, device, subnet] of [
      [client, 'c0', '10.0.1'],
      [member, 'm0', '10.0.2'],
    ] as const) {
      const ip = (...argv: string[]): Promise<string> => runCommand(['ip', '-n', name, ...argv]);
      await runCommand([
        'ip',
        '-n',
        lb,
        'link',
        'add',
        device,
        'type',
        'veth',
        'peer',
        'name',
        'eth0',
        'netns',
        name,
      ]);
      await runCommand(['ip', '-n', lb, 'addr', 'add', `${subnet}.10/24`, 'dev', device]);
      await runCommand(['ip', '-n', lb, 'link', 'set', device, 'up']);
      await ip('addr', 'add', `${subnet}.1/24`, 'dev', 'eth0');
      await ip('link', 'set', 'eth0', 'up');
      await ip('route', 'add', 'default', 'via', `${subnet}.10`);
    }
    await this.#in('lb', ['sysctl', '-qw', 'net.ipv4.ip_forward=1']);
    await runCommand(['ip', '-n', lb, 'route', 'add', VIP.address, 'via', '10.0.2.1']);
    // No answer: what is measured is the way there.
    const sink = 'table ip sink { chain c { type filter hook prerouting priority -300; counter drop; }; }';
    await this.#in('member', ['nft', sink]);
  }

  #in(role: 'client' | 'lb' | 'member', argv: readonly string[], input?: string): Promise<string> {
    const name = this.#names.find((one) => one.endsWith(`-${role}`)) ?? '';
    const options = { timeoutMs: 120_000, ...(input === undefined ? {} : { input }) };
    return runCommand(['ip', 'netns', 'exec', name, ...argv], options);
  }
}
