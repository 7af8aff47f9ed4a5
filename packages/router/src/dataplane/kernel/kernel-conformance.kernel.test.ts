import {
  type DataPlaneHarness,
  type DrivenProbeWays,
  dataPlaneConformance,
  probeWaysConformance,
} from '../testing/data-plane-conformance.ts';
import { DataPlaneProcess, VIP } from './testing/data-plane-process.ts';
import { LbNamespaces } from './testing/lb-namespaces.ts';
import { VipServers } from './testing/vip-servers.ts';

async function harness(): Promise<DataPlaneHarness<DrivenProbeWays>> {
  const lab = new LbNamespaces(['client', 'm1', 'm2']);
  const servers = new VipServers(lab);
  const members: readonly [string, string] = [lab.member('m1').address, lab.member('m2').address];
  // The client is no master: it has no VIP of its own.
  lab.exec('ip', '-n', lab.member('client').namespace, 'addr', 'del', '10.100.0.1/32', 'dev', 'lo');
  await servers.serve('m1', members[0]);
  await servers.serve('m2', members[1]);
  return {
    members,
    async launch() {
      const plane = await DataPlaneProcess.in(lab.lb);
      return {
        start: async () => (await plane.start())[VIP] ?? [],
        setCarried: async (isCarried) =>
          (await plane.setVips(isCarried ? [{ address: '10.100.0.1', port: 6443 }] : []))[VIP],
        setNextHops: (nextHops) => plane.setNextHops(nextHops),
        setProbed: (nextHops) => plane.setProbed(nextHops),
        probe: (nextHop) => plane.probe(nextHop),
        status: () => plane.status(),
        stop: () => plane.stop(),
        kill: () => plane.kill(),
      };
    },
    connect: () => servers.connect('client'),
    async close() {
      servers.close();
      lab.remove();
    },
  };
}

dataPlaneConformance('the kernel', harness);
probeWaysConformance('the kernel', harness);
