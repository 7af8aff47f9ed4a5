import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { TestCa } from '../testing/certificates.ts';
import { CloudInitRun, contentOf } from '../testing/cloud-init-run.ts';

const hash = 'a'.repeat(64);
const speaker = `
apiVersion: bgp-lb.dev/v1alpha1
kind: Speaker
role: init
asn: 64512
endpoint: api.example.net
vips: [{ address: 10.100.0.1, port: 443, machinePort: 6443 }]
routers:
  - { address: 10.0.0.10, asn: 64512, passwordFile: /etc/bgp-lb/bgp-password, bfd: {} }
  - { address: 10.0.0.9, asn: 64512, passwordFile: /etc/bgp-lb/bgp-password }
routeToVip: true
drain: { timeout: 45s }
`;
const router = `
apiVersion: bgp-lb.dev/v1alpha1
kind: Router
neighbors: [{ name: masters, passwordFile: /etc/bgp-lb/masters-password }]
`;

let run: CloudInitRun;
let lb: readonly string[];

beforeAll(() => {
  run = new CloudInitRun(speaker);
  lb = [
    '--router-config',
    run.file('router.yaml', router),
    '--program',
    'https://x/r.tgz',
    '--program-sha256',
    hash,
  ];
});
afterAll(() => run.remove());

const name = z.string().min(1);
const localEndpoint = z.strictObject({ advertiseAddress: name.optional(), bindPort: z.literal(6443) });
const endpoint = z.enum(['api.example.net:443', '[fd00:64::1]:443']);
const token = z.literal('abcdef.0123456789abcdef');
const key = z.string().regex(/^[0-9a-f]{64}$/);

/** The part of kubeadm's v1beta4 that is written, strictly: what is not in it is a mistake. */
const kubeadm = z.discriminatedUnion('kind', [
  z.strictObject({
    apiVersion: z.literal('kubeadm.k8s.io/v1beta4'),
    kind: z.literal('InitConfiguration'),
    bootstrapTokens: z.tuple([z.strictObject({ token, ttl: z.literal('24h0m0s') })]),
    certificateKey: key,
    localAPIEndpoint: localEndpoint,
  }),
  z.strictObject({
    apiVersion: z.literal('kubeadm.k8s.io/v1beta4'),
    kind: z.literal('ClusterConfiguration'),
    kubernetesVersion: name.optional(),
    controlPlaneEndpoint: endpoint,
    networking: z.strictObject({ podSubnet: name.optional(), serviceSubnet: name.optional() }),
    apiServer: z.strictObject({
      certSANs: z.array(name),
      extraArgs: z.tuple([
        z.strictObject({ name: z.literal('shutdown-delay-duration'), value: z.literal('15s') }),
      ]),
    }),
  }),
  z.strictObject({
    apiVersion: z.literal('kubeadm.k8s.io/v1beta4'),
    kind: z.literal('JoinConfiguration'),
    discovery: z.strictObject({
      bootstrapToken: z.strictObject({
        token,
        apiServerEndpoint: endpoint,
        caCertHashes: z.array(name).optional(),
        unsafeSkipCAVerification: z.literal(true).optional(),
      }),
    }),
    controlPlane: z.strictObject({ certificateKey: key, localAPIEndpoint: localEndpoint }).optional(),
    timeouts: z.strictObject({ discovery: name }),
  }),
]);

function kubeadmDocuments(text: string): z.infer<typeof kubeadm>[] {
  return parseAllDocuments(text).map((document) => kubeadm.parse(document.toJS()));
}

describe('user-data', () => {
  it.each(['lb', 'init', 'join', 'worker'])(
    'of %s passes the schema of cloud-init itself',
    async (machine) => {
      const file = run.file(`${machine}.yaml`, await run.print(machine, ...(machine === 'lb' ? lb : [])));
      expect(execFileSync('cloud-init', ['schema', '--config-file', file], { encoding: 'utf8' })).toContain(
        'Valid cloud-config',
      );
    },
  );

  it('is refused by that schema when it is wrong', async () => {
    const text = (await run.print('worker')).replace('runcmd:', 'runcmd: 5\nx:');
    expect(() =>
      execFileSync('cloud-init', ['schema', '--config-file', run.file('bad.yaml', text)], { stdio: 'pipe' }),
    ).toThrow();
  });

  it('of the first master makes kubeadm serve the endpoint and stop slowly', async () => {
    const data = await run.read('init', '--kubernetes-version', 'v1.36.0', '--pod-subnet', '10.244.0.0/16');
    const [init, cluster] = kubeadmDocuments(contentOf(data, '/etc/bgp-lb/kubeadm.yaml'));
    expect(init?.kind).toBe('InitConfiguration');
    expect(cluster).toMatchObject({
      kubernetesVersion: 'v1.36.0',
      networking: { podSubnet: '10.244.0.0/16' },
      apiServer: { certSANs: ['10.100.0.1', 'api.example.net'] },
    });
  });

  describe('for masters with IPv6', () => {
    const [ipv4, ipv6] = ['10.96.0.0/12', 'fd00:60::/112'];
    let ipv6Run: CloudInitRun;
    beforeAll(() => {
      ipv6Run = new CloudInitRun(`
apiVersion: bgp-lb.dev/v1alpha1
kind: Speaker
role: init
asn: 64512
vips: [{ address: "fd00:64::1", port: 443, machinePort: 6443 }]
routers: [{ address: "fd00::10", asn: 64512 }]
routeToVip: true
`);
    });
    afterAll(() => ipv6Run.remove());

    it('has the endpoint as kubeadm reads it, and routes of that family', async () => {
      const data = await ipv6Run.read('init', '--service-subnet', ipv6);
      const [, cluster] = kubeadmDocuments(contentOf(data, '/etc/bgp-lb/kubeadm.yaml'));
      expect(cluster).toMatchObject({
        controlPlaneEndpoint: '[fd00:64::1]:443',
        networking: { serviceSubnet: ipv6 },
        apiServer: { certSANs: ['fd00:64::1'] },
      });
      const unit = contentOf(data, '/etc/systemd/system/bgp-lb-vip-route.service');
      expect(unit).toContain('ip -6 route replace fd00:64::1/128 via fd00::10 proto 84 metric 8400');
    });

    it.each([
      ['none', [], "is not given, and kubeadm's default is 10.96.0.0/12"],
      ['an IPv4 one first', ['--service-subnet', `${ipv4},${ipv6}`], `${ipv4},${ipv6}`],
    ])('is refused with a Service network that no API server starts with: %s', async (_, args, value) => {
      await expect(ipv6Run.print('init', ...args)).rejects.toThrow(
        `--service-subnet ${value}: of another family than routers[].address fd00::10; allowed: an IPv6 network`,
      );
    });

    it('is for joiners what it is for the first, who alone names the networks', async () => {
      await expect(ipv6Run.read('join')).resolves.toHaveProperty('write_files');
    });
  });

  it('is refused for masters with IPv4 where the Service network is IPv6', async () => {
    await expect(run.print('init', '--service-subnet', 'fd00:60::/112')).rejects.toThrow(
      'of another family than routers[].address 10.0.0.10; allowed: an IPv4 network',
    );
  });

  it('of joiners names whom they believe, and says so when it is anybody', async () => {
    const [trusting] = kubeadmDocuments(contentOf(await run.read('join'), '/etc/bgp-lb/kubeadm.yaml'));
    expect(trusting).toMatchObject({ discovery: { bootstrapToken: { unsafeSkipCAVerification: true } } });
    expect(trusting).toHaveProperty('controlPlane.certificateKey');
    const [worker] = kubeadmDocuments(contentOf(await run.read('worker'), '/etc/bgp-lb/kubeadm.yaml'));
    expect(worker).not.toHaveProperty('controlPlane');
  });

  it('of a master has the role that it is for, whatever the configuration says, and its secrets for root only', async () => {
    const data = await run.read('join');
    expect(contentOf(data, '/etc/bgp-lb/speaker.yaml')).toMatch(/^role: join$/m);
    expect(contentOf(data, '/etc/bgp-lb/bgp-password')).toBe('secret\n');
    for (const path of ['/etc/bgp-lb/bgp-password', '/etc/bgp-lb/kubeadm.yaml', '/etc/bgp-lb/speaker.yaml']) {
      expect(data.write_files.find((file) => file.path === path)).toMatchObject({
        permissions: '0600',
        owner: 'root:root',
      });
    }
  });

  it('of a load balancer runs the router with its four capabilities, and drains it before it stops', async () => {
    const data = await run.read('lb', ...lb);
    const unit = contentOf(data, '/etc/systemd/system/bgp-lb-router.service');
    const four = 'CAP_NET_ADMIN CAP_NET_BIND_SERVICE CAP_NET_RAW CAP_SYS_NICE';
    for (const line of ['Type=notify', `CapabilityBoundingSet=${four}`, `AmbientCapabilities=${four}`]) {
      expect(unit.split('\n')).toContain(line);
    }
    // The files that cloud-init writes are root's.
    expect(unit).not.toContain('User=');
    const drain = contentOf(data, '/etc/systemd/system/bgp-lb-router-drain.service');
    expect(drain).toMatch(/^After=.*\bbgp-lb-router\.service$/m);
    expect(drain).toMatch(/^ExecStop=-\/opt\/bgp-lb\/node \S+ drain --wait 10s$/m);
    const settings = contentOf(data, '/etc/systemd/networkd.conf.d/90-bgp-lb.conf');
    for (const kind of ['Routes', 'RoutingPolicyRules', 'NextHops']) {
      expect(settings.split('\n')).toContain(`ManageForeign${kind}=no`);
    }
    expect(data.runcmd.at(-1)).toEqual(expect.arrayContaining(['bgp-lb-router-drain.service']));
  });

  it('of a master drains before kubelet and container runtime stop, with the time that a drain takes', async () => {
    const unit = contentOf(await run.read('init'), '/etc/systemd/system/bgp-lb-drain.service');
    expect(unit).toMatch(/^After=.*containerd\.service.*kubelet\.service$/m);
    expect(unit).toMatch(
      /^ExecStop=-\/usr\/local\/bin\/bgp-lb-speaker drain --force --until-reboot --socket \S+$/m,
    );
    expect(unit).toMatch(/^TimeoutStopSec=75$/m);
    expect(unit).toMatch(/^RemainAfterExit=yes$/m);
  });

  it('puts routes to the VIP on every node, by each load balancer, the first one first', async () => {
    for (const machine of ['join', 'worker']) {
      const unit = contentOf(await run.read(machine), '/etc/systemd/system/bgp-lb-vip-route.service');
      expect(unit).toContain('ip route replace 10.100.0.1/32 via 10.0.0.10 proto 84 metric 8400');
      expect(unit).toContain('ip route replace 10.100.0.1/32 via 10.0.0.9 proto 84 metric 8401');
    }
    const data = await run.read('worker');
    expect(data.runcmd.at(-1)).toContain('bgp-lb-vip-route.service');
    expect(data.write_files.map(({ path }) => path)).not.toContain('/etc/bgp-lb/bgp-password');
  });

  it('of a load balancer has the CA by which it knows API servers, where its configuration looks for it', async () => {
    const { certificate } = new TestCa(run.folder);
    const ca = ['--ca-cert', join(run.folder, 'ca.crt')];
    expect(contentOf(await run.read('lb', ...lb, ...ca), '/etc/bgp-lb/ca.crt')).toBe(certificate);
    const elsewhere = run.file('elsewhere.yaml', `${router}healthCheck: { caFile: /srv/ca.crt }\n`);
    const data = await run.read('lb', ...lb.slice(2), '--router-config', elsewhere, ...ca);
    expect(contentOf(data, '/srv/ca.crt')).toBe(certificate);
  });

  it('of a load balancer has the password of its neighbors, and keeps networkd from its routes', async () => {
    const data = await run.read('lb', ...lb);
    expect(contentOf(data, '/etc/bgp-lb/masters-password')).toBe('secret\n');
    expect(contentOf(data, '/etc/systemd/networkd.conf.d/90-bgp-lb.conf')).toContain(
      'ManageForeignRoutes=no',
    );
  });

  it.each([
    [
      'a program without its hash',
      ['join', '--program', 'https://x/y'],
      /--program and --program-sha256 belong together/,
    ],
    [
      'a hash that is none',
      ['join', '--program', 'https://x/y', '--program-sha256', 'abc'],
      /64 hexadecimal digits/,
    ],
    [
      'a program at a path that depends on where it is read',
      ['join', '--program', 'out/x', '--program-sha256', hash],
      /out\/x is read on the machine.*allowed: an absolute path there, or a URL/,
    ],
    ['a CA key without its certificate', ['init', '--ca-key', '/x'], /with --ca-cert/],
    ['a load balancer without configuration', ['lb'], /needs --router-config/],
    ['a machine that there is not', ['master'], /lb, init, join, worker|Choices/i],
  ])('is refused for %s', async (_what, args, message) => {
    const [machine = '', ...options] = args;
    await expect(run.print(machine, ...options)).rejects.toThrow(message);
  });
});
