import type { ImportedConfig } from './imported-config.ts';

/** What has to be known besides, and what cannot be taken over. */
export interface RouterYaml {
  /** router.yaml. */
  readonly text: string;
  /** What has to be done or looked at, one sentence each. */
  readonly notes: readonly string[];
}

/** Our configuration for what HAProxy does. @param vip for a `bind` that names no address */
export function routerYaml(imported: ImportedConfig, vip: string | undefined): RouterYaml {
  const { binds, servers, check } = imported;
  const notes: string[] = [];
  const vips = binds.map(({ address, port }) => ({ address: address ?? vip, port }));
  if (vips.some(({ address }) => address === undefined)) {
    notes.push('bind names no address: give the address that clients use by --vip');
  }
  const ports = [...new Set(servers.map(({ port }) => port))];
  if (ports.length > 1) {
    notes.push(`servers have several ports (${ports.join(', ')}): the first is machinePort of all of them`);
  }
  if (!check.isVerified) {
    notes.push("its checks verified nothing (verify none): copy the cluster's ca.crt to /etc/bgp-lb/ca.crt");
  }
  return { text: render(vips, servers, ports[0] ?? 6443, check), notes };
}

function render(
  vips: readonly { readonly address: string | undefined; readonly port: number }[],
  servers: ImportedConfig['servers'],
  machinePort: number,
  check: ImportedConfig['check'],
): string {
  const checks = [
    ...(check.interval === undefined ? [] : [`interval: ${check.interval}ms`]),
    ...(check.rise === undefined ? [] : [`rise: ${check.rise}`]),
    ...(check.fall === undefined ? [] : [`fall: ${check.fall}`]),
  ];
  const lines = [
    'apiVersion: bgp-lb.dev/v1alpha1',
    'kind: Router',
    '# Without BGP neighbours any number does.',
    'asn: 64512',
    'vips:',
    ...vips.flatMap(({ address, port }) => [
      `  - address: ${address === undefined ? 'VIP' : quoted(address)}`,
      `    port: ${port}`,
      `    machinePort: ${machinePort}`,
      '    members:',
      '      bgp: false',
      '      static:',
      ...servers.map(
        ({ name, address: host }) => `        - { name: ${quoted(name)}, address: ${quoted(host)} }`,
      ),
    ]),
    'dataplane: { kind: haproxy }',
    ...(checks.length === 0 ? [] : [`healthCheck: { ${checks.join(', ')} }`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** As YAML: names are the user's, and may be anything. */
function quoted(text: string): string {
  return /^[a-z][a-z0-9.-]*$|^\d+\.\d+\.\d+\.\d+$/i.test(text) ? text : JSON.stringify(text);
}
