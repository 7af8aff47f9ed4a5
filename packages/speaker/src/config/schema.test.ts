import { ConfigError, describeSchema, loadConfig } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { speakerSchema } from './schema.ts';
import { API_VERSION, KIND, type SpeakerConfig } from './speaker-config.ts';

const minimal = `apiVersion: ${API_VERSION}
kind: ${KIND}
role: join
asn: 64512
vips: [{ address: 10.0.0.100 }]
routers: [{ address: 10.0.0.10, asn: 64512 }]
`;

function load(text: string): SpeakerConfig {
  return loadConfig({
    schema: speakerSchema,
    file: 'speaker.yaml',
    text,
    apiVersion: API_VERSION,
    kind: KIND,
  }).config;
}

/** The text of the diagnostics of a faulty configuration. */
function faults(text: string): string {
  try {
    load(text);
  } catch (error) {
    if (error instanceof ConfigError) return error.toString();
    throw error;
  }
  return '';
}

describe('the configuration', () => {
  it('is complete with a role, an AS, a VIP and a router', () => {
    expect(load(minimal)).toEqual({
      role: 'join',
      asn: 64512,
      vips: [{ address: '10.0.0.100', port: 6443, machinePort: 6443 }],
      routers: [
        {
          address: '10.0.0.10',
          port: 179,
          asn: 64512,
          holdTime: 9_000,
          ttlSecurityHops: 1,
          acceptAsSet: false,
          withoutCapabilities: [],
          bfd: {
            authentication: 'auto',
            keyId: 1,
            strict: false,
          },
        },
      ],
      vipBind: true,
      routeToVip: false,
      apiServer: {
        serverName: 'kubernetes',
        caFile: '/etc/kubernetes/pki/ca.crt',
        path: '/readyz',
        interval: 200,
        timeout: 1_000,
        rise: 2,
        fall: 3,
        unauthenticated: 'reject',
      },
      bootstrap: {
        markers: ['/var/lib/bgp-lb/bootstrapped', '/run/cluster-api/bootstrap-success.complete'],
        stateDir: '/var/lib/bgp-lb',
        machineIdFile: '/etc/machine-id',
      },
      drain: { timeout: 60_000, file: '/run/bgp-lb/drain' },
      stopMode: 'keep',
      api: { socket: '/run/bgp-lb/speaker.sock', listen: { host: '127.0.0.1', port: 9475 } },
      log: { level: 'info' },
    });
  });

  it('has BFD unless it is turned off, with times that follow from the address of the router', () => {
    const withBfd = (bfd: string) => load(minimal.replace('asn: 64512 }]', `asn: 64512, bfd: ${bfd} }]`));
    expect(withBfd('false').routers[0]?.bfd).toBe(false);
    expect(load(minimal).routers[0]?.bfd).toEqual({
      authentication: 'auto',
      keyId: 1,
      strict: false,
    });
    expect(withBfd('{ transmitInterval: 50ms, strict: true }').routers[0]?.bfd).toMatchObject({
      transmitInterval: 50,
      strict: true,
    });
    expect(() => withBfd('{ transmitInterval: 5ms }')).toThrow('is too short');
  });

  it('reads communities as text, large ones too', () => {
    const text = minimal.replace(
      '10.0.0.100 }',
      "10.0.0.100, communities: ['64512:100', '64512:77:1', no-export] }",
    );
    expect(load(text).vips[0]?.communities).toEqual([
      0xfc000064,
      { globalAdministrator: 64512, localData1: 77, localData2: 1 },
      0xffffff01,
    ]);
  });

  it('names line, column, value and what is allowed', () => {
    const text = faults(minimal.replace('role: join', 'role: master'));
    expect(text).toContain('speaker.yaml:3:7: role:');
    expect(text).toContain('"master"');
    expect(text).toContain('init, join or cluster-api');
  });

  it.each<readonly [what: string, found: string, replacement: string, message: string]>([
    [
      'a VIP listed twice',
      'vips: [{ address: 10.0.0.100 }]',
      'vips: [{ address: 10.0.0.100 }, { address: 10.0.0.100 }]',
      'is there twice',
    ],
    ['a router that is loopback', 'address: 10.0.0.10,', 'address: 127.0.0.1,', 'is a loopback address'],
    [
      'a router that is this node',
      'asn: 64512\nvips',
      'asn: 64512\napiServer: { address: 10.0.0.10 }\nvips',
      'is apiServer.address: it is this node itself',
    ],
    [
      'a source address that is the router',
      'asn: 64512 }]',
      'asn: 64512, sourceAddress: 10.0.0.10 }]',
      'is sourceAddress: it is this node itself',
    ],
    [
      'an API server on the port of BGP',
      '10.0.0.100 }',
      '10.0.0.100, machinePort: 179 }',
      'machinePort: is the port of BGP',
    ],
    [
      'an API server on our own port',
      '10.0.0.100 }',
      '10.0.0.100, machinePort: 9475 }',
      'api.listen: is the port of the API server (machinePort) too',
    ],
    ...['/livez', '/livez?verbose', '/healthz', '/livez/ping'].map(
      (path) =>
        [
          `a path that stays green while the API server stops (${path})`,
          'asn: 64512\nvips',
          `asn: 64512\napiServer: { path: "${path}" }\nvips`,
          'stays green while the API server stops',
        ] as const,
    ),
    [
      'a probe that lasts for many intervals',
      'asn: 64512\nvips',
      'asn: 64512\napiServer: { timeout: 30s }\nvips',
      'is too long beside the interval of 200ms',
    ],
    [
      'a socket with too long a path',
      'asn: 64512\nvips',
      `asn: 64512\napi: { socket: /${'x'.repeat(107)} }\nvips`,
      'has 108 octets, too many for a Unix socket',
    ],
    [
      'a router identifier that is zero',
      'asn: 64512\nvips',
      'asn: 64512\nrouterId: 0.0.0.0\nvips',
      'is the unspecified address',
    ],
    [
      'an endpoint that is no DNS name',
      'asn: 64512\nvips',
      'asn: 64512\nendpoint: "api example"\nvips',
      'is not a DNS name, got "api example"; allowed: labels of letters, digits and hyphens',
    ],
    ['a router that is the VIP', 'address: 10.0.0.10,', 'address: 10.0.0.100,', 'is a VIP'],
    [
      'an IPv6 VIP without an IPv6 router',
      'address: 10.0.0.100 }',
      "address: '2001:db8::1' }",
      'no router has one',
    ],
    ['a loopback VIP', 'address: 10.0.0.100 }', 'address: 127.0.0.1 }', 'is a loopback address'],
    [
      'a node address that is the VIP',
      'asn: 64512\nvips',
      'asn: 64512\napiServer: { address: 10.0.0.100 }\nvips',
      'is a VIP',
    ],
    ['a drain of no time', 'asn: 64512\nvips', 'asn: 64512\ndrain: { timeout: 0s }\nvips', 'is shorter than'],
    [
      'a marker beside the keys',
      'asn: 64512\nvips',
      'asn: 64512\nbootstrap: { markers: [/etc/kubernetes/done] }\nvips',
      'folder with credentials',
    ],
    [
      'a kubeconfig beside the keys',
      'asn: 64512\nvips',
      'asn: 64512\ndrain: { annotation: { kubeconfig: /etc/kubernetes/admin.conf, node: m } }\nvips',
      'folder with credentials',
    ],
    [
      'a client certificate beside the keys',
      'asn: 64512\nvips',
      'asn: 64512\napiServer: { clientCertificate: { certFile: /var/lib/x.pem, keyFile: /etc/kubernetes/pki/x.key } }\nvips',
      'folder with credentials',
    ],
    [
      'a community that only the speaker may give',
      'vips: [{ address: 10.0.0.100 }]',
      "vips: [{ address: 10.0.0.100, communities: ['64512:2:1'] }]",
      'the speaker itself says',
    ],
    [
      'a community that is none',
      'vips: [{ address: 10.0.0.100 }]',
      "vips: [{ address: 10.0.0.100, communities: ['64512:70000'] }]",
      'is not a community',
    ],
    [
      'a source address of another family',
      'asn: 64512 }]',
      "asn: 64512, sourceAddress: '2001:db8::1' }]",
      'is of another family',
    ],
    [
      'a next password without a present one',
      'asn: 64512 }]',
      'asn: 64512, nextPasswordFile: /etc/bgp-lb/next }]',
      'follows no password',
    ],
    [
      'VIPs with two API servers',
      'vips: [{ address: 10.0.0.100 }]',
      'vips: [{ address: 10.0.0.100 }, { address: 10.0.0.101, machinePort: 7443 }]',
      'one API server is behind all of them',
    ],
    [
      'single hop BFD with a router some hops away',
      'asn: 64512 }]',
      'asn: 64512, ttlSecurityHops: 2, bfd: { multihop: false } }]',
      'contradicts ttlSecurityHops 2',
    ],
  ])('refuses %s', (_, found, replacement, message) => {
    const text = minimal.replace(found, replacement);
    expect(text).not.toBe(minimal);
    expect(faults(text)).toContain(message);
  });

  it('refuses an IPv6 session without the capability that IPv6 needs, and takes one over IPv4', () => {
    const six = `${minimal.replaceAll('10.0.0.100', '"fd00::64"')}`.replace('10.0.0.10,', '"fd00::10",');
    const without = (text: string): string =>
      text.replace('asn: 64512 }', 'asn: 64512, withoutCapabilities: [multiprotocol] }');
    expect(faults(without(six))).toContain('is needed for IPv6 (RFC 4760)');
    expect(faults(without(minimal))).toBe('');
  });

  it('refuses keys that it does not know, and suggests the nearest', () => {
    expect(faults(`${minimal}stopmode: drain\n`)).toMatch(/stopmode: is not a known key.*stopMode\?/);
  });
});

describe('the documentation of the configuration', () => {
  it('describes every key', () => {
    const keys = describeSchema(speakerSchema);
    expect(keys.length).toBeGreaterThan(30);
    for (const key of keys) expect(`${key.path}: ${key.description}`).not.toMatch(/: (undefined)?$/);
  });
});
