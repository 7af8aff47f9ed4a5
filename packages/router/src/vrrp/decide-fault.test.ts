import { describe, expect, it } from 'vitest';
import { givesUp } from './decide-fault.ts';
import { parseNotifyLine } from './notify-line.ts';
import { stateReason } from './state-reason.ts';

const broken = 'HAProxy is gone';

describe('a load balancer that cannot serve', () => {
  it.each([
    ['gives the VIPs up where another can serve', 'master', true, false, true],
    ['keeps them where no other can', 'master', false, false, false],
    ['keeps out while another has them', 'backup', false, true, true],
    ['keeps out while another could have them', 'backup', true, false, true],
    ['takes them when no other is heard', 'fault', false, false, false],
  ] as const)('%s', (_what, state, hasFitPeer, hasOwner, expected) => {
    expect(givesUp({ broken, state, hasFitPeer, hasOwner })).toBe(expected);
    expect(givesUp({ broken: undefined, state, hasFitPeer, hasOwner })).toBe(false);
  });
});

describe('a line of the notify FIFO', () => {
  it.each([
    ['INSTANCE "bgp-lb" MASTER 240', { state: 'master', priority: 240, isContested: false }],
    ['INSTANCE "bgp-lb" BACKUP 1', { state: 'backup', priority: 1, isContested: false }],
    ['INSTANCE "bgp-lb" FAULT 240', { state: 'fault', priority: 240, isContested: false }],
    ['INSTANCE "bgp-lb" STOP 240', { state: 'stop', priority: 240, isContested: false }],
    ['INSTANCE "bgp-lb" DELETED 240', { state: 'stop', priority: 240, isContested: false }],
    ['INSTANCE "bgp-lb-fit" MASTER 240', undefined],
    ['INSTANCE "bgp-lb" MASTER_RX_LOWER_PRI 240', { state: 'master', priority: 240, isContested: true }],
    ['GROUP "bgp-lb" MASTER 240', undefined],
    ['INSTANCE "bgp-lb" MASTER', undefined],
    ['', undefined],
  ])('%s', (line, expected) => {
    expect(parseNotifyLine(line)).toEqual(expected);
  });
});

describe('why keepalived is in a state', () => {
  const heard = (priority: number, agoMs: number) =>
    ({ source: '10.0.0.3', version: 3, vrid: 100, priority, agoMs }) as const;
  const facts = {
    priority: 240,
    unfit: undefined,
    heard: undefined,
    window: 800,
    interface: 'eth0',
  } as const;

  it.each([
    [{ state: 'master' }, 'no other load balancer was heard'],
    [{ state: 'master', heard: heard(0, 3) }, '10.0.0.3 gave them up'],
    [{ state: 'master', heard: heard(250, 900) }, '10.0.0.3 fell silent'],
    [{ state: 'master', heard: heard(100, 3) }, 'its priority 240 is not below the 100 of 10.0.0.3'],
    [{ state: 'backup', heard: heard(250, 3) }, '10.0.0.3 has them, with priority 250'],
    [{ state: 'backup' }, 'it waits whether another load balancer has them'],
    [{ state: 'fault', unfit: broken }, broken],
    [{ state: 'fault' }, 'keepalived finds eth0, or its address there, gone'],
    [{ state: 'stop' }, 'keepalived does not run'],
  ] as const)('%j', (over, expected) => {
    expect(stateReason({ ...facts, ...over })).toBe(expected);
  });
});
