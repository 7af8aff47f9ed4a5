import { vipAddress } from '../lab/addresses.ts';
import type { Lab } from '../lab/lab.ts';

/** What a person can do with a lab that was kept: commands to copy. The last takes a master's link away. */
export function commandsToTry(lab: Lab): readonly string[] {
  const { lb, client } = lab;
  const [first, last] = [lab.master(1), lab.master(lab.masters.length)];
  const on = (host: { readonly namespace: string }, command: string): string =>
    `ip netns exec ${host.namespace} ${command}`;
  const router = `${process.execPath} ${new URL('../../dist/bgp-lb-router.mjs', import.meta.url).pathname}`;
  const speaker = `${process.execPath} ${new URL('../../dist/bgp-lb-speaker.mjs', import.meta.url).pathname}`;
  return [
    on(lb, `${router} status --socket ${lb.router.socketPath}`),
    on(lb, `${router} explain --socket ${lb.router.socketPath}`),
    on(lb, `${router} fib --socket ${lb.router.socketPath}`),
    on(first, `${speaker} status --socket ${first.speaker.socketPath}`),
    on(client, `openssl s_client -connect ${vipAddress}:6443 -brief </dev/null`),
    on(lb, lb.dataPlane === 'kernel' ? 'ip nexthop show' : 'ss -tlnp sport = :6443'),
    on(last, 'ip link set eth0 down'),
  ];
}

/** The commands with what is to be said about them. @param page address of the router's page */
export function whatToTry(lab: Lab, page: string): string {
  return [
    '',
    `The lab is still up. Look at it: ${page}`,
    'Try:',
    ...commandsToTry(lab).map((command) => `  ${command}`),
    'Remove it:',
    '  npm run demo -- --remove',
  ].join('\n');
}
