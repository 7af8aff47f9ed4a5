import type { InterfaceAddress, Link } from '@bgp-lb/linux';
import type { VipConfig } from '../config/speaker-config.ts';

/** A VIP that this host has on another link than `lo`: not by us, and not touched by us. */
export interface VipElsewhere {
  /** The address. */
  readonly vip: string;
  /** The link's name. */
  readonly link: string;
}

/** The VIPs that another program (kube-vip, keepalived, a person) has put on a link. In the order of the VIPs. */
export function vipsElsewhere(
  vips: readonly VipConfig[],
  links: readonly Link[],
  addresses: readonly InterfaceAddress[],
): readonly VipElsewhere[] {
  return vips.flatMap(({ address: vip }) =>
    addresses
      .filter(({ address }) => address === vip)
      .flatMap(({ index }) => {
        const link = links.find((one) => one.index === index);
        return link?.isLoopback === true ? [] : [{ vip, link: link?.name ?? `interface ${index}` }];
      }),
  );
}
