import { describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { ServiceStatus, serviceStatusLine } from './service-status.ts';

function start() {
  const clock = new ManualClock();
  const told: string[] = [];
  const state = { line: 'STATUS=a' };
  const status = new ServiceStatus({ clock, read: () => state.line, tell: (line) => void told.push(line) });
  return { clock, told, state, status };
}

describe('what the service manager is told', () => {
  it('says of each VIP how many members are forwarded to, and how many upstreams have it', () => {
    const vips = [
      { vip: '10.100.0.1/32', forwarding: 2, members: 3, upstreams: [true, false] },
      { vip: 'fd00::1/128', forwarding: 0, members: 1, upstreams: [] },
    ];
    const text =
      '10.100.0.1 forwarded to 2 of 3 members, advertised to 1 of 2 upstreams; fd00::1 forwarded to nobody of 1 members';
    expect(serviceStatusLine(vips, false, 'the kernel', undefined)).toBe(`STATUS=${text}`);
    expect(serviceStatusLine(vips, true, 'the kernel', undefined)).toBe(`STATUS=drained; ${text}`);
  });

  it('says first what keeps the data plane from being as wanted, in one line', () => {
    const vips = [{ vip: '10.100.0.1/32', forwarding: 2, members: 3, upstreams: [true, false] }];
    expect(serviceStatusLine(vips, true, 'HAProxy', 'set route: EPERM:\nno permission')).toBe(
      'STATUS=HAProxy is not as wanted: set route: EPERM: no permission; drained; 10.100.0.1 forwarded to 2 of 3 members, advertised to 1 of 2 upstreams',
    );
  });

  it('is one line of bounded length, whatever is configured', () => {
    const vips = Array.from({ length: 100 }, (_, n) => ({
      vip: `10.100.0.${n}/32`,
      forwarding: 1,
      members: 1,
      upstreams: [],
    }));
    expect(serviceStatusLine(vips, false, 'the kernel', undefined)).toHaveLength('STATUS='.length + 512);
  });

  it('is told at once, and then once a second at most: the newest', () => {
    const { clock, told, state, status } = start();
    status.touch();
    clock.advance(0);
    for (let n = 0; n < 100; n++) {
      state.line = `STATUS=${n}`;
      status.touch();
      clock.advance(9);
    }
    expect(told).toEqual(['STATUS=a']);
    clock.advance(100);
    expect(told).toEqual(['STATUS=a', 'STATUS=99']);
  });

  it('is not told again what has not changed, nor anything after the end', () => {
    const { clock, told, state, status } = start();
    for (let n = 0; n < 3; n++) {
      status.touch();
      clock.advance(5000);
    }
    state.line = 'STATUS=b';
    status.touch();
    status.close();
    status.touch();
    clock.advance(5000);
    expect(told).toEqual(['STATUS=a']);
  });
});
