import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localAsn, vipAddress } from '../../scripts/lab/addresses.ts';
import { gobgpArguments, gobgpView } from '../../scripts/lab/gobgp.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { addresses, startMaster } from '../kit/cluster.ts';
import {
  type EventView,
  eventsSince,
  lastEvent,
  member,
  neighbor,
  waitForEvent,
} from '../kit/router-view.ts';

const connections = 60;
const patience = 60_000;

/** gobgpd.conf of a master with a graceful restart (RFC 4724): GoBGP 3.10 dies of some messages, and is then started again. */
function configOf(lab: Lab, master: MasterHost): string {
  return `[global.config]
  as = ${localAsn}
  router-id = "${master.address}"
[[neighbors]]
  [neighbors.config]
    neighbor-address = "${lab.lb.address}"
    peer-as = ${localAsn}
    auth-password = "lab-password"
  [neighbors.timers.config]
    connect-retry = 1
    hold-time = 9
    keepalive-interval = 3
  [neighbors.transport.config]
    local-address = "${master.address}"
  [neighbors.ttl-security.config]
    enabled = true
    ttl-min = 255
  [neighbors.graceful-restart.config]
    enabled = true
    restart-time = 60
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "ipv4-unicast"
    [neighbors.afi-safis.mp-graceful-restart.config]
      enabled = true
`;
}

/** Starts gobgpd ($2...) again whenever it ends, announces the VIP each time, and writes down its process into the file $1. */
const supervisor = `
file=$1
shift
restarted=
while :; do
  "$@" $restarted &
  child=$!
  echo $child > "$file"
  until gobgp global rib add -a ipv4 ${vipAddress}/32; do
    kill -0 $child || break
    sleep 0.1
  done
  wait $child
  restarted=--graceful-restart
done`;

describe('GoBGP 3.10 under a supervisor, as a master beside ours', { timeout: 120_000 }, () => {
  let lab: Lab;
  let master: MasterHost;
  const pid = (): number => Number(readFileSync(master.path('run/gobgpd.pid'), 'utf8'));

  beforeAll(async () => {
    lab = await Lab.create({
      masters: 2,
      controlPlane: 'stand-in',
      speaker: { apiServer: { timeout: '2s', fall: 5 } },
    });
    await lab.lb.router.start();
    await startMaster(lab, lab.master(1));
    master = lab.master(2);
    await master.installCertificates(lab.master(1));
    await master.startApiServer();
    await master.exec(['ip', 'address', 'add', `${vipAddress}/32`, 'dev', 'lo']);
    const view = gobgpView(master.path('gobgp'), configOf(lab, master));
    const supervised = ['sh', '-c', supervisor, 'supervisor', master.path('run/gobgpd.pid')];
    master.spawn('gobgpd', view.inside([...supervised, ...gobgpArguments()]));
    await lab.lb.waitForPool(addresses(lab.masters), patience);
  }, 120_000);
  afterAll(async () => {
    await lab?.destroy();
  });

  it('has a session with MD5 and GTSM and graceful restart, and serves', async () => {
    expect(await neighbor(lab, master.address)).toMatchObject({
      state: 'Established',
      prefixes: { received: 1, rejected: 0 },
    });
    expect(await member(lab, master)).toMatchObject({ state: 'active', inPool: true });
  });

  it('serves on when it crashes, is started again, and has its session back: nobody notices', async () => {
    const opened = await lab.client.open(connections, { connectTimeout: 20_000 });
    expect(opened).toMatchObject({ opened: connections, failed: 0 });
    expect(opened.byMaster[master.name]).toBeGreaterThan(0);
    const before = await lastEvent(lab);
    const crashed = pid();
    process.kill(crashed, 'SIGABRT');
    const ofIt =
      (to: string) =>
      (event: EventView): boolean =>
        event.type === 'member-transition' && event['nextHop'] === master.address && event['to'] === to;
    const left = await waitForEvent(lab, before, 'the member stale', ofIt('stale'), patience);
    await waitForEvent(lab, left.sequence, 'the member back', ofIt('active'), patience);
    expect(pid()).not.toBe(crashed);
    expect(await neighbor(lab, master.address)).toMatchObject({
      state: 'Established',
      prefixes: { received: 1 },
    });
    expect((await eventsSince(lab, before)).filter(ofIt('out'))).toEqual([]);
    expect(await lab.client.check(20_000)).toMatchObject({ alive: connections, broken: 0 });
  });
});
