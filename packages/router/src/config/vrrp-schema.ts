import { duration, filePath, interfaceName, ipAddress } from '@bgp-lb/daemon';
import * as z from 'zod';

const SECOND = 1000;

/** Where the files of keepalived are unless the configuration says otherwise, as its unit has them. */
export const KEEPALIVED_PLACES = {
  folder: '/var/lib/bgp-lb/keepalived',
  runFolder: '/run/bgp-lb-keepalived',
} as const;

/** Load balancers on one link that pass the VIPs between them. Left out: this host has no part in VRRP. */
export const vrrpSchema = z
  .strictObject({
    interface: interfaceName().describe(
      'The interface that has all load balancers and the clients, or their router, on its link.',
    ),
    vrid: z
      .int()
      .min(1)
      .max(255)
      .optional()
      .describe(
        "The virtual router identifier, the same on all load balancers and of nothing else on the link. Default: the last octet of the first VIP of the peers' family.",
      ),
    peers: z
      .array(ipAddress({ use: 'host' }))
      .min(1)
      .max(15)
      .describe(
        'The addresses of all other load balancers on that link, each listed by all others. At least one VIP has to be of their family.',
      ),
    address: ipAddress({ use: 'host' })
      .optional()
      .describe(
        "This host's own address there. Default: the first of the interface that shares a subnet with the peers.",
      ),
    priority: z
      .int()
      .min(1)
      .max(254)
      .default(240)
      .describe(
        'The highest has the VIPs. Numbers near 254 also take over faster: by (256 - priority)/256 of `advertInterval`.',
      ),
    advertInterval: duration({ min: 50, max: 40 * SECOND })
      .default(300)
      .describe(
        'Between two advertisements of the owner, in steps of 10 ms; the same on all load balancers.',
      ),
    missedAdverts: z
      .int()
      .min(2)
      .max(100)
      .default(3)
      .describe(
        'So many intervals without an advertisement, and the owner counts as dead; the same on all load balancers.',
      ),
    preemptDelay: duration({ min: 0, max: 1000 * SECOND })
      .default(5 * SECOND)
      .describe('How long one of a higher priority waits before it takes the VIPs from one that serves.'),
    trackInterfaces: z
      .array(interfaceName())
      .max(16)
      .default([])
      .describe('Interfaces, as those towards the masters, without whose carrier this host cannot serve.'),
    folder: filePath()
      .default(KEEPALIVED_PLACES.folder)
      .describe('Where keepalived.conf and the files that it tracks are written.'),
    runFolder: filePath()
      .default(KEEPALIVED_PLACES.runFolder)
      .describe('Where keepalived has its notify FIFO and the file with its process id.'),
  })
  .describe(
    'VRRP by keepalived: one of several load balancers on a link has the VIPs. Left out: this host has no part in it.',
  );
