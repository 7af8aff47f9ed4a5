import type { CrossFieldFault } from './cross-field-fault.ts';

/**
 * What a neighbor with a link-local address cannot have, since it is on this link or nowhere: routers forward no packet from or to such
 * an address (RFC 4291 section 2.5.6).
 * @param path of the neighbor: `['routers', 0]`
 */
export function linkLocalDistanceFaults(
  path: readonly (string | number)[],
  {
    address,
    ttlSecurityHops,
    bfd,
  }: {
    readonly address?: string | undefined;
    readonly ttlSecurityHops: number;
    readonly bfd: false | { readonly multihop?: boolean | undefined };
  },
): CrossFieldFault[] {
  const message = `cannot be with the link-local address ${address}, which is on this link or nowhere`;
  return [
    ...(ttlSecurityHops > 1
      ? [
          {
            path: [...path, 'ttlSecurityHops'],
            message,
            value: ttlSecurityHops,
            allowed: '1, or 0 for none',
          },
        ]
      : []),
    ...(bfd !== false && bfd.multihop === true
      ? [{ path: [...path, 'bfd', 'multihop'], message, value: true, allowed: 'false' }]
      : []),
  ];
}
