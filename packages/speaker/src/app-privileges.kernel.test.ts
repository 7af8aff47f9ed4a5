import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { field } from './testing/network-namespace.ts';
import { path, ROUTER, routesOf, SpeakerLab, VIP } from './testing/speaker-lab.ts';

const TIMEOUT = 90_000;
const checkout = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

let lab: SpeakerLab;

beforeEach(() => {
  lab = new SpeakerLab();
}, TIMEOUT);

afterEach(() => lab.remove(), TIMEOUT);

/** The part of a static pod that the container's privileges follow from. */
const pod = z.object({
  spec: z.object({
    containers: z.tuple([
      z.object({
        securityContext: z.object({
          runAsUser: z.int(),
          readOnlyRootFilesystem: z.literal(true),
          allowPrivilegeEscalation: z.literal(false),
          capabilities: z.object({ drop: z.tuple([z.literal('ALL')]), add: z.array(z.string()) }),
        }),
        volumeMounts: z.array(z.object({ mountPath: z.string(), readOnly: z.boolean().optional() })),
      }),
    ]),
  }),
});

interface Privileges {
  readonly capabilities: readonly string[];
  readonly user: number;
  readonly writable: readonly string[];
}

/** What the manifest that we print gives the container, for the configuration of the lab. */
function privilegesOfManifest(): Privileges {
  const manifest: unknown = parse(lab.command('manifest', '--image', 'x'));
  const [{ securityContext, volumeMounts }] = pod.parse(manifest).spec.containers;
  return {
    capabilities: securityContext.capabilities.add,
    user: securityContext.runAsUser,
    writable: volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath),
  };
}

/** Runs a program as a container engine would: capabilities, user, no new privileges, root and /proc/sys read-only but for mounts. */
function launcher({ capabilities, user, writable }: Privileges): readonly string[] {
  // A mount of what is read-only would be read-only too: the root comes last.
  const mounts = [
    ...[...writable, '/proc/sys'].map((folder) => `mount --bind ${folder} ${folder}`),
    ...['/proc/sys', '/'].map((folder) => `mount -o remount,bind,ro ${folder}`),
  ];
  // The checkout is at /mnt too, where a user that may not pass through root's home reaches it.
  const reachable = `mount --bind ${checkout} /mnt
for word do
  shift
  case $word in ${checkout}/*) word=/mnt\${word#${checkout}} ;; esac
  set -- "$@" "$word"
done`;
  const script = [reachable, ...mounts, 'exec "$@"'].join('\n');
  const set = ['-all', ...capabilities.map((name) => `+${name.toLowerCase()}`)].join();
  const limits = ['--bounding-set', set, '--inh-caps', '-all', '--no-new-privs', '--reuid', String(user)];
  return ['sh', '-ec', script, 'sh', 'setpriv', ...limits];
}

describe('a speaker with the privileges of its static pod', { timeout: TIMEOUT }, () => {
  it('does its whole job', async () => {
    const bfd = '{ transmitInterval: 300ms, receiveInterval: 300ms }';
    const router = `[{ address: ${ROUTER}, asn: 64512, passwordFile: ${lab.path('password')}, ttlSecurityHops: 1, bfd: ${bfd} }]`;
    lab.configure({ routers: router, routeToVip: 'true' });
    const [peer] = await Promise.all([lab.startRouter({ bfd: 300 }), lab.startApiServer()]);
    await lab.turn('ready');
    lab.finishKubeadm();
    const privileges = privilegesOfManifest();
    expect(privileges).toMatchObject({ capabilities: ['NET_ADMIN'], user: 0 });
    lab.master.run('sysctl', '-qw', 'net.ipv4.conf.e0.arp_ignore=0');
    const speaker = await lab.startSpeaker({ launcher: launcher(privileges) });
    const status = lab.master.run('cat', `/proc/${speaker.pid}/status`);
    // CAP_NET_ADMIN is capability 12 (include/uapi/linux/capability.h).
    for (const set of ['CapPrm', 'CapEff', 'CapBnd']) {
      expect(status).toMatch(new RegExp(`^${set}:\\s+0000000000001000$`, 'm'));
    }
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);

    // Address, mapping, MD5 and GTSM, BFD, ARP, routes: bound, checked by the mapped port, and advertised.
    await lab.reach('advertised');
    expect(await routesOf(peer)).toEqual([path.normal]);
    const { routers, kernel } = await lab.until(({ routers: [one] }) => one?.bfd === 'Up');
    expect(routers).toMatchObject([{ session: 'Established', password: true }]);
    expect(kernel).toMatchObject({ uplinks: ['e0'], fault: null, routesMissing: [] });
    expect(lab.master.run('sysctl', '-n', 'net.ipv4.conf.e0.arp_ignore').trim()).toBe('1');
    expect(lab.master.ip('route', 'show', VIP)).toContain(`via ${ROUTER} dev e0 proto 84`);
    // Its state is written, and its marker consumed.
    expect(existsSync(lab.path('state/state.json'))).toBe(true);
    expect(existsSync(lab.marker)).toBe(false);

    // The kernel's notifications: address, nft table, route.
    lab.master.ip('address', 'delete', `${VIP}/32`, 'dev', 'lo');
    lab.master.run('nft', 'delete', 'table', 'inet', 'bgp_lb_speaker');
    lab.master.ip('route', 'delete', VIP);
    for (const what of [`put ${VIP} on lo`, 'replaced the table', `${VIP}/32 goes by`]) {
      await speaker.next((line) =>
        String(field('msg')(line)).includes(`kernel repaired: ${what}`) ? true : undefined,
      );
    }

    // A drain: connections counted, newcomers held off, who stays reset.
    const client = await lab.connectClient();
    const order = lab.startCommand(
      'drain',
      '--force',
      '--timeout',
      '1s',
      '--socket',
      lab.path('speaker.sock'),
    );
    expect(await routesOf(peer)).toEqual([path.draining]);
    expect(await client.next(field('end'))).toBe('ECONNRESET');
    expect(await routesOf(peer)).toEqual([]);
    expect(await order).toMatchObject({ code: 0 });
    await lab.reach('absent');
    expect(lab.isBound()).toBe(false);
    expect(await lab.events('connections-reset')).toMatchObject([{ count: 1 }]);
    expect(await lab.events('kernel-failed')).toEqual([]);
  });

  it('ends with the reason when it lacks the capability, as another user than root does', async () => {
    lab.configure({ routers: `[{ address: ${ROUTER}, asn: 64512 }]` });
    lab.master.run('chmod', '-R', 'a+rwX', lab.folder);
    const privileges = privilegesOfManifest();
    for (const without of [{ capabilities: [] }, { user: 65_534 }]) {
      const speaker = lab.launchSpeaker(launcher({ ...privileges, ...without }));
      const said = await speaker.next((line) =>
        field('level')(line) === 'fatal' ? field('msg')(line) : undefined,
      );
      expect(said).toMatch(
        /^bgp-lb-speaker did not start: .* EPERM: operation not permitted without CAP_NET_ADMIN$/,
      );
      expect(await speaker.exit()).toBe(1);
    }
  });
});
