import { loadConfig } from '@bgp-lb/daemon';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RouterConfig } from '../config/router-config.ts';
import { API_VERSION, CONFIG_KIND, routerSchema } from '../config/schema.ts';
import { readHaproxyConfig } from './imported-config.ts';
import type { NotTaken } from './read-proxy.ts';
import { type RouterYaml, routerYaml } from './router-yaml.ts';
import { haproxyFiles, kubeadmGuide } from './testing/haproxy-files.ts';

/** As `check-config` reads it; throws for what that refuses. */
function checked(text: string): RouterConfig {
  const heading = { apiVersion: API_VERSION, kind: CONFIG_KIND };
  return loadConfig({ schema: routerSchema, file: 'router.yaml', text, ...heading }).config;
}

function imported(text: string, vip?: string): RouterYaml & { readonly replaced: readonly NotTaken[] } {
  const read = readHaproxyConfig(text);
  const made = routerYaml(read, vip);
  return { ...made, left: [...read.left, ...made.left], replaced: read.replaced };
}

describe("the haproxy.cfg of kubeadm's guide", () => {
  it('becomes our configuration', () => {
    const { text, notes, left } = imported(kubeadmGuide.text, '10.0.0.100');
    expect(left).toEqual([]);
    expect(text).toBe(`apiVersion: bgp-lb.dev/v1alpha1
kind: Router
# Without BGP neighbors any number does.
asn: 64512
vips:
  - address: 10.0.0.100
    port: 443
    machinePort: 6443
    members:
      bgp: false
      static:
        - { name: m1, address: 10.0.0.11 }
        - { name: m2, address: m2.example.net }
dataplane: { kind: haproxy }
`);
    expect(notes).toEqual([expect.stringContaining('verify none')]);
  });

  it('says of each line that is not taken over why', () => {
    const { replaced } = imported(kubeadmGuide.text, '10.0.0.100');
    const reasonOf = (text: string): string | undefined => replaced.find((one) => one.text === text)?.reason;
    expect(reasonOf('timeout client 35s')).toContain('watch');
    expect(reasonOf('http-check send meth GET uri /healthz')).toContain('/readyz');
    expect(reasonOf('balance roundrobin')).toBeDefined();
  });

  it('names every line that it does not understand, with its number', () => {
    const odd = kubeadmGuide.text
      .replace('    daemon\n', '    daemon\n    lua-load x.lua\n')
      .replace('m1 10.0.0.11:6443 check', 'm1 10.0.0.11:6443 send-proxy check');
    expect(imported(odd, '10.0.0.100').left).toMatchObject([
      { number: 4, text: 'lua-load x.lua' },
      { number: 40, text: 'send-proxy' },
    ]);
  });

  it('has no VIP until --vip says which, as its bind names none', () => {
    const { text, notes } = imported(kubeadmGuide.text);
    expect(text).toBeUndefined();
    expect(notes).toEqual([expect.stringMatching(/line 24: .*--vip/)]);
  });
});

describe.each(haproxyFiles)('the haproxy.cfg of $name', ({ text: file, vip, vips, left }) => {
  it('becomes the VIPs of API servers alone, with their own servers', () => {
    const { text = '' } = imported(file, vip);
    expect(
      checked(text).vips.map(({ address, port, machinePort, members }) => [
        address,
        port,
        machinePort,
        ...members.static.map((member) => member.address),
      ]),
    ).toEqual(vips);
  });

  it('has what may be missed named', () => {
    const named = imported(file, vip).left.map(({ text }) => text);
    expect(named).toHaveLength(left.length);
    for (const start of left) expect(named.filter((text) => text.startsWith(start))).toHaveLength(1);
  });
});

it.each([
  ['bind 10.0.0.100:6443 transparent', [{ address: '10.0.0.100', port: 6443 }]],
  ['bind [fd00::100]:443', [{ address: 'fd00::100', port: 443 }]],
  ['bind fd00::100:443', [{ address: 'fd00::100', port: 443 }]],
  ['bind :8443', [{ address: undefined, port: 8443 }]],
  ['bind :::8443 v4v6', [{ address: undefined, port: 8443 }]],
  ['bind "10.0.0.1:443",10.0.0.2:443#both', [{ address: '10.0.0.1' }, { address: '10.0.0.2' }]],
])('reads %s', (line, binds) => {
  const read = readHaproxyConfig(`listen f\n ${line}\n server m1 10.0.0.11:6443\n`);
  expect(read).toMatchObject({ pools: [{ binds }], left: [] });
});

it.each([
  'bind /run/x.sock',
  'bind nonsense',
  'server m1',
  'server m1 /run/x.sock',
  'server m1 10.0.0.11:99999',
  'server m1 10.0.0.11:+1000',
  'bind 10.0.0.1:99999',
  'bind *:$PORT',
  'bind 10.0.0.1:6443-6450',
  'server-template m 3 m.example.net:6443',
])('does not guess what %s is', (line) => {
  const file = `listen f\nbind 10.0.0.1:6443\nserver m9 10.0.0.19:6443\n${line}\n`;
  expect(readHaproxyConfig(file).left).toMatchObject([{ number: 4, text: line }]);
});

it('takes the pace of checks, of the server or else of default-server', () => {
  const text = `defaults
 default-server fall 9
listen b
 bind 10.0.0.100:443
 default-server inter 2s rise 3
 server m1 10.0.0.11:6443 check fall 4 # first\n`;
  const { text: yaml, left } = imported(text);
  expect(left).toEqual([]);
  expect(checked(yaml ?? '').healthCheck).toMatchObject({ interval: 2000, rise: 3, fall: 4 });
});

it.each(['inter 5m', 'inter 10', 'rise 0', 'fall 1000'])('leaves a pace that we do not have: %s', (pace) => {
  const file = `listen b\n bind 10.0.0.1:443\n server m1 10.0.0.11:6443 check ${pace}\n`;
  const { text = '', replaced } = imported(file);
  expect(checked(text).vips).toHaveLength(1);
  expect(replaced).toMatchObject([{ number: 3, text: pace }]);
});

describe('whatever the file says', () => {
  const words = ['null', 'true', 'no', 'on', 'Off', 'y', '~', '1e3', '0x1f', 'a: b', '- x', '#', "'", '\\'];
  const name = fc.oneof(fc.constantFrom(...words), fc.string({ minLength: 1, maxLength: 8 }));
  const inQuotes = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&').replace(/[\n\r]/g, '')}"`;
  const host = fc.oneof(
    fc.ipV4(),
    fc.ipV6().map((text) => `[${text}]`),
    fc.domain(),
    fc.constantFrom('null', 'no', '10.0.0.11', 'master_1', '*', ''),
    name.map(inQuotes),
  );
  const port = fc.constantFrom('', ':6443', ':443', ':0');
  const option = fc.constantFrom(
    'check',
    'inter 2s',
    'inter 1us',
    'rise 200',
    'weight 5',
    'nonsense',
    'verify none',
  );
  const line = fc.oneof(
    fc.tuple(host, port).map(([where, at]) => ` bind ${where}${at}`),
    fc
      .tuple(name, host, port, fc.array(option, { maxLength: 3 }))
      .map(([own, where, at, rest]) => ` server ${inQuotes(own)} ${where}${at} ${rest.join(' ')}`),
    fc.constantFrom(
      ' mode tcp',
      ' mode http',
      ' default_backend b',
      'backend b',
      'listen l',
      'frontend f',
      ' odd',
    ),
    fc.string({ maxLength: 30 }),
  );
  const file = fc
    .array(line, { maxLength: 30 })
    .map((lines) => `listen first\n bind 10.0.0.100:6443\n${lines.join('\n')}\n`);

  it('prints what check-config takes, or nothing', () => {
    let printed = 0;
    void fc.assert(
      fc.property(file, fc.option(fc.oneof(fc.ipV4(), fc.ipV6()), { nil: undefined }), (text, vip) => {
        const { text: yaml } = imported(text, vip);
        if (yaml === undefined) return;
        printed += 1;
        checked(yaml);
      }),
      { numRuns: 2_000 },
    );
    expect(printed).toBeGreaterThan(200);
  });

  it('prints names as they are, those included that YAML takes for something else', () => {
    void fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...words), fc.stringMatching(/^[!-~]{1,12}$/)), (own) => {
        const text = `listen f\n bind 10.0.0.1:6443\n server ${inQuotes(own)} 10.0.0.11:6443\n`;
        const { text: yaml } = imported(text);
        if (/\s/.test(own)) return;
        expect(checked(yaml ?? '').vips[0]?.members.static).toMatchObject([{ name: own }]);
      }),
    );
  });

  it('names a line of any section that is not understood', () => {
    const lines = kubeadmGuide.text.trimEnd().split('\n');
    void fc.assert(
      fc.property(fc.nat({ max: lines.length }), (at) => {
        const text = [...lines.slice(0, at), '  unheard-of thing', ...lines.slice(at)].join('\n');
        expect(imported(text, '10.0.0.100').left).toMatchObject([
          { number: at + 1, text: 'unheard-of thing' },
        ]);
      }),
    );
  });
});
