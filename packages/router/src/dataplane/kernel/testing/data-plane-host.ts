/** Runs a kernel data plane in the network namespace of this process and obeys its parent over IPC. For tests. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { NetlinkError, type RouteChange, RouteSocket } from '@bgp-lb/linux';
import { systemClock } from '@bgp-lb/protocol/node';
import { EvidenceReader } from '../evidence-reader.ts';
import { KernelDataPlane } from '../kernel-data-plane.ts';
import { linuxKernelHost } from '../kernel-host.ts';
import type { HostCall, HostEvent, HostReply } from './data-plane-process.ts';

const [options] = process.argv.slice(2);
const { hasResilientGroups = true, upstreams, ...settings } = JSON.parse(options ?? '{}');
const host = linuxKernelHost(systemClock, (error) => tell({ event: 'error', text: error.message }));
if (hasResilientGroups === false) {
  const isResilient = (change: RouteChange): boolean =>
    change.kind === 'set-nexthop-group' && change.group.resilient !== undefined;
  const refusal = new NetlinkError('set next hop group', constants.errno.EINVAL, 'Invalid group type');
  host.socket.changeEach = (changes) => {
    const others = changes.filter((change) => !isResilient(change));
    const answers = RouteSocket.prototype.changeEach.call(host.socket, others).values();
    return changes.map((change) => (isResilient(change) ? refusal : answers.next().value));
  };
}
const plane = new KernelDataPlane({ ...settings, upstreams: () => upstreams }, host);
/** Made when it is asked for: tests of floods count the sockets. */
let evidence: EvidenceReader | undefined;

function tell(message: HostReply | HostEvent): void {
  process.send?.(message);
}

async function probe(nextHop: string): Promise<string> {
  let socket: Socket;
  try {
    socket = plane.socketThrough(nextHop, '10.100.0.1');
  } catch (error) {
    return String(error);
  }
  socket.setTimeout(1000, () => socket.destroy(new Error('timeout')));
  socket.connect({ host: '10.100.0.1', port: 6443 });
  try {
    const [data] = await once(socket, 'data');
    return String(data);
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  } finally {
    socket.destroy();
  }
}

async function obey(call: HostCall): Promise<unknown> {
  switch (call.method) {
    case 'start': {
      const adopted = await plane.start({
        link: (nextHop, problem) => tell({ event: 'link', text: `${nextHop}: ${problem ?? 'there'}` }),
        forwarding: (vip, nextHops) => tell({ event: 'forwarding', text: `${vip} ${nextHops.join(' ')}` }),
        obstacle: (vip, obstacle) => tell({ event: 'obstacle', text: `${vip} ${obstacle ?? 'none'}` }),
        configured: () => undefined,
        dissent: () => undefined,
        repaired: (operations) => tell({ event: 'repaired', text: operations.join('; ') }),
        failing: (problem) => tell({ event: 'failing', text: problem ?? '' }),
        operation: (kind, _, error) => {
          if (error !== undefined) tell({ event: 'refused', text: `${kind}: ${error}` });
        },
      });
      return Object.fromEntries(adopted);
    }
    case 'setVips':
      return Object.fromEntries(plane.setVips(call.vips));
    case 'setNextHops': {
      const begin = performance.now();
      plane.setNextHops(new Map([[call.vip, call.nextHops]]));
      return performance.now() - begin;
    }
    case 'setNextHopsInFlood':
      execFileSync('ip', ['-batch', '-'], { input: call.flood.join('\n') });
      plane.setNextHops(new Map([['10.100.0.1/32', call.nextHops]]));
      return undefined;
    case 'differencesAfter':
      for (const [program = '', ...argv] of call.commands) {
        execFileSync(program, argv);
      }
      return await plane.differences();
    case 'setAllNextHops': {
      const begin = performance.now();
      plane.setNextHops(new Map(call.all));
      return performance.now() - begin;
    }
    case 'moveBuckets':
      return plane.moveBuckets('10.100.0.1/32', call.nextHop, call.limits);
    case 'setProbed':
      plane.setProbed(call.nextHops);
      return undefined;
    case 'probe':
      return await probe(call.nextHop);
    case 'status':
      return plane.status({ shares: true });
    case 'clientCounts':
      evidence ??= new EvidenceReader();
      return evidence.read();
    case 'stop':
      await plane.stop();
      return undefined;
  }
}

process.on('message', (call: HostCall) => {
  obey(call).then(
    (result) => tell({ id: call.id, result }),
    (error: unknown) => tell({ id: call.id, error: error instanceof Error ? error.message : String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
tell({ event: 'ready', text: '' });
