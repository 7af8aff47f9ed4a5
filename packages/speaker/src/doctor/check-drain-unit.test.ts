import { describe, expect, it } from 'vitest';
import { checkDrainUnit } from './check-drain-unit.ts';

const config = {
  api: { socket: '/run/bgp-lb/speaker.sock', listen: { host: '127.0.0.1', port: 9475 } },
  drain: { timeout: 60_000, file: '/run/bgp-lb/drain' },
};

/** As `systemctl show` of systemd 252 has it. */
function shown(over: Record<string, string> = {}, flags = ''): string {
  const unit = {
    ExecStop: `{ path=/usr/bin/true ; argv[]=/usr/bin/true drain --force --until-reboot${flags} ; ignore_errors=yes ; pid=0 }`,
    TimeoutStopUSec: '1min 30s',
    Environment: '',
    LoadState: 'loaded',
    ActiveState: 'active',
    ...over,
  };
  return Object.entries(unit)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

const elsewhere = { ...config, api: { ...config.api, socket: '/run/a b/x.sock' } };
const slow = { ...config, drain: { ...config.drain, timeout: 300_000 } };

describe('the unit that drains before the host shuts down, looked at by doctor', () => {
  it.each([
    ['is made for the defaults, and so is the configuration', config, shown()],
    [
      'is told the socket by a drop-in',
      elsewhere,
      shown({ Environment: '"BGP_LB_SOCKET=/run/a b/x.sock" A=b' }),
    ],
    ['is told the socket by its command', elsewhere, shown({}, ' --socket /run/a b/x.sock')],
    ['has time without end', slow, shown({ TimeoutStopUSec: 'infinity' })],
    ['has just the time of the drain and half a minute', slow, shown({ TimeoutStopUSec: '5min 30s' })],
    ['has days', slow, shown({ TimeoutStopUSec: '1d 2h' })],
  ])('is good when it %s', (_, settings, text) => {
    expect(checkDrainUnit(settings, text)).toMatchObject([{ level: 'good' }]);
  });

  it.each([
    ['asks at the default', elsewhere, shown()],
    ['asks elsewhere by a drop-in', config, shown({ Environment: 'A=b BGP_LB_SOCKET=/run/x.sock' })],
    [
      'asks elsewhere by its command, which a variable does not change',
      config,
      shown({ Environment: 'BGP_LB_SOCKET=/run/bgp-lb/speaker.sock' }, ' --socket /run/x.sock'),
    ],
  ])('is at fault when it %s and the speaker listens at another socket', (_, settings, text) => {
    expect(checkDrainUnit(settings, text)).toMatchObject([
      {
        level: 'fault',
        value: expect.stringContaining('it drains nobody'),
        fix: `systemctl edit bgp-lb-drain.service: [Service] Environment="BGP_LB_SOCKET=${settings.api.socket}"`,
      },
    ]);
  });

  it.each(['1min 30s', '5min 29s', '500ms', ''])(
    'is at fault with %j for a drain of five minutes',
    (given) => {
      expect(checkDrainUnit(slow, shown({ TimeoutStopUSec: given }))).toMatchObject([
        { level: 'fault', fix: 'systemctl edit bgp-lb-drain.service: [Service] TimeoutStopSec=330' },
      ]);
    },
  );

  it.each([
    ['is not there', { LoadState: 'not-found', ActiveState: 'inactive' }, 'is not-found: nothing drains'],
    ['is masked', { LoadState: 'masked', ActiveState: 'inactive' }, 'is masked: nothing drains'],
    ['was stopped', { ActiveState: 'inactive' }, 'is inactive'],
  ])('is worth a warning when it %s', (_, over, value) => {
    expect(checkDrainUnit(config, shown(over))).toMatchObject([
      { level: 'warning', value: expect.stringContaining(value) },
    ]);
  });

  it('is no matter where no systemd runs', () => {
    expect(checkDrainUnit(config, undefined)).toEqual([]);
  });
});
