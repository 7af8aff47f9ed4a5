import type { Lab } from '../lab/lab.ts';

/** What a person can do with a lab that was kept: commands to copy. */
export function whatToTry(lab: Lab): string {
  const { lb, client } = lab;
  const [first, last] = [lab.master(1), lab.master(lab.masters.length)];
  const on = (host: { readonly namespace: string }, command: string): string =>
    `  ip netns exec ${host.namespace} ${command}`;
  const router = `${process.execPath} ${new URL('../../dist/bgp-lb-router.mjs', import.meta.url).pathname}`;
  const speaker = `${process.execPath} ${new URL('../../dist/bgp-lb-speaker.mjs', import.meta.url).pathname}`;
  return [
    '',
    'The lab is still up. Try:',
    on(lb, `${router} status --config ${lb.router.configFile}`),
    on(lb, `${router} fib --config ${lb.router.configFile}`),
    on(first, `${speaker} status --config ${first.speaker.configFile}`),
    on(client, 'openssl s_client -connect 10.100.0.1:6443 -brief'),
    on(lb, 'ip nexthop show'),
    on(last, 'ip link set eth0 down'),
    'Remove it:',
    '  npm run demo -- --remove',
  ].join('\n');
}
