import { dataPlaneConformance } from '../testing/data-plane-conformance.ts';
import { HaproxyHost } from './testing/haproxy-host.ts';

dataPlaneConformance('HAProxy', async () => {
  const host = HaproxyHost.create();
  const members = [await host.member(11), await host.member(12)] as const;
  let isStarted = false;
  return {
    members,
    async launch() {
      const plane = host.plane();
      return {
        async start() {
          const found = (await plane.start(host.handlers)).get(host.prefix) ?? [];
          if (!isStarted) await host.startHaproxy();
          isStarted = true;
          return found.map(({ nextHop, weight }) => ({ nextHop, weight }));
        },
        setCarried: async (isCarried) =>
          plane
            .setVips(isCarried ? [host.vip] : [])
            .get(host.prefix)
            ?.map(({ nextHop, weight }) => ({ nextHop, weight })),
        setNextHops: (nextHops) => host.serve(plane, nextHops),
        status: async () => plane.status(),
        stop: () => plane.stop(),
        // HAProxy lives in a process of its own in any case: what a killed router leaves is what this leaves.
        kill: () => plane.stop(),
      };
    },
    connect: () => host.connect(),
    close: () => host.close(),
  };
});
