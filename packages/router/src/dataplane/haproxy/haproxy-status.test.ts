import { expect, it } from 'vitest';
import { haproxyForwarding, isDeadServer } from './haproxy-status.ts';
import type { RunningServer } from './run-time-answers.ts';

const server: RunningServer = {
  backend: 'members-10.0.0.100',
  name: '10.0.0.11',
  address: '10.0.0.11',
  port: 6443,
  admin: 'ready',
  weight: 256,
  isChecked: true,
  isUp: true,
  status: 'UP',
  check: 'L7OK',
  detail: 'Layer7 check passed',
  sessions: 7,
};
const place = 'members-10.0.0.100/10.0.0.11';

it.each<[string, readonly RunningServer[] | undefined, boolean]>([
  ['nothing is known, as HAProxy does not answer', undefined, false],
  ['it is there no more', [], true],
  ['it is up', [server], false],
  ['it drains', [{ ...server, admin: 'drain', status: 'DRAIN' }], false],
  ['it is not ready', [{ ...server, isUp: false, status: 'NOLB', check: 'L7OKC' }], false],
  ['it is in maintenance', [{ ...server, admin: 'maint', status: 'MAINT' }], true],
  ['its check fails', [{ ...server, isUp: false, status: 'DOWN', check: 'L4TOUT' }], true],
  ['its check is overruled', [{ ...server, isChecked: false, status: 'no check' }], false],
  ['only the server of another VIP is there', [{ ...server, backend: 'members-10.0.0.101' }], true],
])('connections of an old worker to a server are ended: %s', (_, servers, isDead) => {
  expect(isDeadServer(place, servers)).toBe(isDead);
});

it('says nothing of a process while HAProxy does not answer', () => {
  const vip = { address: 'fd00::100', port: 443, machinePort: 6443 };
  const { forwarding, detail, members } = haproxyForwarding(
    vip,
    [{ nextHop: 'fd00::11', weight: 256 }],
    undefined,
  );
  expect({ forwarding, detail }).toEqual({
    forwarding: false,
    detail: { backend: 'members-fd00::100', bind: '[fd00::100]:443' },
  });
  expect(members).toMatchObject([{ share: 0, problem: 'HAProxy does not have it yet' }]);
});
