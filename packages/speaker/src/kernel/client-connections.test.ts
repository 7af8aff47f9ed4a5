import type { TcpConnection } from '@bgp-lb/linux';
import { describe, expect, it } from 'vitest';
import { ClientConnections, type ResetReport } from './client-connections.ts';

const vip = { address: '10.0.0.100', port: 443, machinePort: 6443 };

function connection(remoteAddress: string, remotePort: number): TcpConnection {
  return {
    localAddress: vip.address,
    localPort: vip.machinePort,
    remoteAddress,
    remotePort,
    state: 'established',
    unacknowledged: 0,
    resent: 0,
    identity: { family: 2, octets: new Uint8Array(48) },
  };
}

/** A kernel with these connections, of which some end by themselves, and one that appears while the others are reset. */
function kernel(first: readonly TcpConnection[], options: { gone?: number; late?: TcpConnection } = {}) {
  let left = [...first];
  let late = options.late;
  const asked: string[] = [];
  const reports: ResetReport[] = [];
  const failures: unknown[] = [];
  let isOpen = false;
  let clock = 0;
  const connections = new ClientConnections({
    open: () => {
      isOpen = true;
      return {
        connections: ({ address, port }) => {
          asked.push(`${address} ${port}`);
          return [...left];
        },
        destroy: (one) => {
          left = left.filter((other) => other !== one);
          if (late !== undefined) left.push(late);
          late = undefined;
          return one.remotePort !== options.gone;
        },
        close: () => {
          isOpen = false;
        },
      };
    },
    notClients: () => ['10.0.0.10', '10.0.0.11'],
    reset: (report) => reports.push(report),
    failed: (error) => failures.push(error),
    now: () => clock,
  });
  return {
    pass: (milliseconds: number) => {
      clock += milliseconds;
    },
    connections,
    reports,
    failures,
    asked,
    left: () => left,
    isOpen: () => isOpen,
  };
}

describe('the connections of a VIP that leaves', () => {
  it('are looked for at the port of the machine, reset, counted, and their clients named once', () => {
    const one = kernel([connection('10.1.0.1', 1), connection('10.1.0.1', 2), connection('10.1.0.2', 1)]);
    one.connections.reset([vip]);
    expect(one.asked[0]).toBe('10.0.0.100 6443');
    expect(one.reports).toEqual([
      { vip: '10.0.0.100', count: 3, clients: ['10.1.0.1', '10.1.0.2'], others: 0 },
    ]);
    expect(one.left()).toEqual([]);
    expect(one.isOpen()).toBe(false);
  });

  it('are not counted when they ended by themselves', () => {
    const one = kernel([connection('10.1.0.1', 1), connection('10.1.0.2', 7)], { gone: 7 });
    one.connections.reset([vip]);
    expect(one.reports).toMatchObject([{ count: 1, clients: ['10.1.0.1'] }]);
  });

  it('are reset with those that come meanwhile', () => {
    const one = kernel([connection('10.1.0.1', 1)], { late: connection('10.1.0.3', 3) });
    one.connections.reset([vip]);
    expect(one.reports).toMatchObject([{ count: 2 }]);
    expect(one.left()).toEqual([]);
  });

  it('are clients’ unless they are this host’s or a router’s, which are reset as well', () => {
    const one = kernel(
      ['10.1.0.1', '10.0.0.10', '10.0.0.11', vip.address].map((address) => connection(address, 1)),
    );
    expect(one.connections.count([vip])).toBe(1);
    one.connections.reset([vip]);
    expect(one.reports).toEqual([{ vip: '10.0.0.100', count: 1, clients: ['10.1.0.1'], others: 3 }]);
    one.pass(999);
    // The kernel is not asked again so soon.
    expect(one.connections.count([vip])).toBe(1);
    one.pass(1);
    expect(one.connections.count([vip])).toBe(0);
  });

  it('are not talked of when there are none', () => {
    const one = kernel([]);
    one.connections.reset([vip]);
    one.connections.reset([]);
    expect(one.reports).toEqual([]);
  });

  it('are named up to a bound', () => {
    const one = kernel(Array.from({ length: 100 }, (_, index) => connection(`10.1.0.${index}`, 1)));
    one.connections.reset([vip]);
    expect(one.reports[0]?.count).toBe(100);
    expect(one.reports[0]?.clients).toHaveLength(16);
  });

  it('stay when the kernel cannot reset them, which is told and stops nothing', () => {
    const failures: unknown[] = [];
    const refusing = new ClientConnections({
      open: () => {
        throw new Error('EOPNOTSUPP');
      },
      notClients: () => [],
      reset: () => expect.fail('nothing was reset'),
      failed: (error) => failures.push(error),
    });
    refusing.reset([vip]);
    refusing.reset([vip]);
    expect(refusing.count([vip])).toBeUndefined();
    expect(failures).toHaveLength(1);
    expect(String(failures[0])).toContain('EOPNOTSUPP');
  });
});
