import type { Clock, Sockets, SpeakerHandlers } from '@bgp-lb/protocol/node';
import { Advertiser } from '../bgp/advertiser.ts';

/** The speaker's sessions with one router, over sockets and a clock of a test. */
export function memorySpeaker(options: {
  readonly address: string;
  /** An IPv4 address. */
  readonly routerId: string;
  readonly router: string;
  readonly vip: string;
  readonly asn: number;
  readonly isRestarting: boolean;
  readonly sockets: Sockets;
  readonly clock: Clock;
  readonly handlers: Pick<SpeakerHandlers, 'down' | 'event'>;
}): Advertiser {
  const { address, routerId, router, vip, asn, ...rest } = options;
  return new Advertiser({
    ...rest,
    config: {
      asn,
      vipBind: true,
      vips: [{ address: vip, port: 6443, machinePort: 6443 }],
      routers: [
        {
          address: router,
          port: 179,
          asn,
          holdTime: 9_000,
          ttlSecurityHops: 0,
          bfd: false,
          acceptAsSet: false,
          withoutCapabilities: [],
        },
      ],
    },
    routerId,
    passwords: new Map(),
    sourceTowards: () => address,
    linkLocalTowards: () => undefined,
    globalOnLinkOf: () => undefined,
  });
}
