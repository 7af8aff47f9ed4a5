import { dirname } from 'node:path';
import {
  bfdAuthenticationFault,
  type Community,
  type CrossFieldFault,
  formatCommunity,
  multiprotocolFault,
} from '@bgp-lb/daemon';
import { ipVersion, WellKnownCommunity } from '@bgp-lb/protocol';
import { linkLocalFaults } from './link-local-faults.ts';
import type { SpeakerConfig } from './speaker-config.ts';
import { unusableValues } from './unusable-values.ts';

/** How long an API server with `--shutdown-delay-duration=0` serves on after /readyz turned red, with room. Milliseconds. */
const SHORTEST_DRAIN = 1_000;

/** The rules that concern more than one key. Pure; every fault is found, not only the first. */
export function crossFieldFaults(config: SpeakerConfig): readonly CrossFieldFault[] {
  return [
    ...duplicates(config),
    ...addressConflicts(config),
    ...familyFaults(config),
    ...machinePortFaults(config),
    ...unusableValues(config),
    ...bfdFaults(config),
    ...bfdKeyFaults(config),
    ...sessionFaults(config),
    ...linkLocalFaults(config),
    ...communityFaults(config),
    ...timeFaults(config),
    ...credentialFaults(config),
    ...config.routers.flatMap(({ withoutCapabilities, address }, index) =>
      multiprotocolFault(withoutCapabilities, [address], ['routers', index, 'withoutCapabilities']),
    ),
  ];
}

function duplicates({ vips, routers, bootstrap }: SpeakerConfig): CrossFieldFault[] {
  const faults: CrossFieldFault[] = [];
  const find = (
    values: readonly string[],
    path: (index: number) => readonly (string | number)[],
    allowed: string,
  ) => {
    values.forEach((value, index) => {
      if (values.indexOf(value) < index)
        faults.push({ path: path(index), message: 'is there twice', value, allowed });
    });
  };
  find(
    vips.map((vip) => vip.address),
    (index) => ['vips', index, 'address'],
    'each VIP once',
  );
  find(
    routers.map((router) => router.address),
    (index) => ['routers', index, 'address'],
    'each router once',
  );
  find(bootstrap.markers, (index) => ['bootstrap', 'markers', index], 'each marker once');
  return faults;
}

/** GRACEFUL_SHUTDOWN (RFC 8326), and ASN:1 to ASN:3, say what a path is: that is the speaker's to say. */
function communityFaults({ asn, vips }: SpeakerConfig): CrossFieldFault[] {
  const isOurs = (one: Community): boolean =>
    typeof one === 'number'
      ? one === WellKnownCommunity.GracefulShutdown
      : one.globalAdministrator === asn && [1, 2, 3].includes(one.localData1);
  return vips.flatMap(({ communities = [] }, vip) =>
    communities.flatMap((one, index): CrossFieldFault[] => {
      if (!isOurs(one)) return [];
      return [
        {
          path: ['vips', vip, 'communities', index],
          message: 'is one by which the speaker itself says what the path is',
          value: formatCommunity(one),
          allowed: `any but 65535:0, ${asn}:1:*, ${asn}:2:* and ${asn}:3:*`,
        },
      ];
    }),
  );
}

function sessionFaults({ vips, routers }: SpeakerConfig): CrossFieldFault[] {
  return routers.flatMap(({ address, sourceAddress, passwordFile, nextPasswordFile }, index) => {
    const faults: CrossFieldFault[] = [];
    if (nextPasswordFile !== undefined && passwordFile === undefined) {
      faults.push({
        path: ['routers', index, 'nextPasswordFile'],
        message: 'follows no password',
        value: nextPasswordFile,
        allowed: 'only together with passwordFile',
      });
    }
    if (sourceAddress === undefined) return faults;
    const isVip = vips.some((vip) => vip.address === sourceAddress);
    if (isVip || version(sourceAddress) !== version(address)) {
      faults.push({
        path: ['routers', index, 'sourceAddress'],
        message: isVip ? 'is a VIP, which all masters share' : `is of another family than ${address}`,
        value: sourceAddress,
        allowed: `an IPv${version(address)} address of this host alone`,
      });
    }
    return faults;
  });
}

function bfdKeyFaults({ routers }: SpeakerConfig): CrossFieldFault[] {
  return routers.flatMap(({ bfd, passwordFile }, index): CrossFieldFault[] => {
    const message = bfdAuthenticationFault(bfd, passwordFile);
    if (message === undefined || bfd === false) return [];
    const path = ['routers', index, 'bfd', 'authentication'];
    return [{ path, message, value: bfd.authentication, allowed: 'auto, none, or a passwordFile beside it' }];
  });
}

function bfdFaults({ routers }: SpeakerConfig): CrossFieldFault[] {
  return routers.flatMap(({ bfd, ttlSecurityHops }, index): CrossFieldFault[] => {
    if (bfd === false || bfd.multihop !== false || ttlSecurityHops <= 1) return [];
    return [
      {
        path: ['routers', index, 'bfd', 'multihop'],
        message: `contradicts ttlSecurityHops ${ttlSecurityHops}: no packet arrives with TTL 255 from a router that is not on link`,
        value: false,
        allowed: 'true, or ttlSecurityHops 0 or 1',
      },
    ];
  });
}

function addressConflicts({ vips, routers, apiServer, routerId }: SpeakerConfig): CrossFieldFault[] {
  const isVip = (address: string): boolean => vips.some((vip) => vip.address === address);
  const faults: CrossFieldFault[] = [];
  routers.forEach(({ address }, index) => {
    if (!isVip(address)) return;
    faults.push({
      path: ['routers', index, 'address'],
      message: 'is a VIP',
      value: address,
      allowed: 'an address of the router itself',
    });
  });
  if (apiServer.address !== undefined && isVip(apiServer.address)) {
    faults.push({
      path: ['apiServer', 'address'],
      message: 'is a VIP, which would be answered by any master',
      value: apiServer.address,
      allowed: 'an address of this node',
    });
  }
  if (routerId !== undefined && isVip(routerId)) {
    faults.push({
      path: ['routerId'],
      message: 'is a VIP, which all masters share',
      value: routerId,
      allowed: 'an identifier of this node alone',
    });
  }
  return faults;
}

/** A VIP travels in a session of its own family: the next hop is our address of that session. */
function familyFaults({ vips, routers }: SpeakerConfig): CrossFieldFault[] {
  return vips.flatMap(({ address }, index): CrossFieldFault[] => {
    if (routers.some((router) => version(router.address) === version(address))) return [];
    const family = `IPv${version(address)}`;
    return [
      {
        path: ['vips', index, 'address'],
        message: `is an ${family} address, but no router has one, so that there is nobody to advertise it to`,
        value: address,
        allowed: `a VIP of a family in which a router is listed`,
      },
    ];
  });
}

function machinePortFaults({ vips }: SpeakerConfig): CrossFieldFault[] {
  const first = vips[0]?.machinePort;
  return vips.flatMap(({ machinePort }, index): CrossFieldFault[] => {
    if (machinePort === first) return [];
    return [
      {
        path: ['vips', index, 'machinePort'],
        message: 'differs from that of the first VIP, but one API server is behind all of them',
        value: machinePort,
        allowed: String(first),
      },
    ];
  });
}

function timeFaults({ drain }: SpeakerConfig): CrossFieldFault[] {
  if (drain.timeout >= SHORTEST_DRAIN) return [];
  return [
    {
      path: ['drain', 'timeout'],
      message: 'is shorter than the time an API server serves on while it stops',
      value: `${drain.timeout}ms`,
      allowed: "at least 1s, and more than the API server's --shutdown-delay-duration",
    },
  ];
}

/** Where kubeadm keeps credentials and keys. */
const CREDENTIALS = '/etc/kubernetes';

/** The folders of markers, client certificate and kubeconfig are mounted into the pod: none may show it other credentials or the CA's key. */
function credentialFaults({ bootstrap, apiServer, drain }: SpeakerConfig): CrossFieldFault[] {
  const { certFile, keyFile } = apiServer.clientCertificate ?? {};
  const files: readonly (readonly [path: readonly (string | number)[], file: string | undefined])[] = [
    ...bootstrap.markers.map((marker, index) => [['bootstrap', 'markers', index], marker] as const),
    [['apiServer', 'clientCertificate', 'certFile'], certFile],
    [['apiServer', 'clientCertificate', 'keyFile'], keyFile],
    [['drain', 'annotation', 'kubeconfig'], drain.annotation?.kubeconfig],
  ];
  return files.flatMap(([path, file]): CrossFieldFault[] => {
    if (file === undefined) return [];
    if (!isBesideCredentials(dirname(file))) return [];
    return [
      {
        path,
        message: 'is in a folder with credentials, and that folder is mounted into the pod',
        value: file,
        allowed: `a path in a folder of its own, like /var/lib/bgp-lb/${exampleOf[String(path[0])]}`,
      },
    ];
  });
}

const exampleOf: Readonly<Record<string, string>> = {
  bootstrap: 'bootstrapped',
  apiServer: 'client.pem',
  drain: 'kubeconfig',
};

/** A folder that holds, or is among, what kubeadm keeps secret. */
function isBesideCredentials(folder: string): boolean {
  return contains(folder, CREDENTIALS) || contains(CREDENTIALS, folder);
}

function contains(folder: string, path: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
}

function version(address: string): 4 | 6 {
  return ipVersion(address);
}
