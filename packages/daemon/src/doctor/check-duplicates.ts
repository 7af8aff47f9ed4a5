import { type Finding, fault, good, warning } from './finding.ts';

/** An address of this host, with what the kernel says of its duplicate address detection (RFC 4862 section 5.4). */
export interface DetectedAddress {
  readonly address: string;
  /** The interface's name. */
  readonly interface: string;
  /** Another host on the link has it too. */
  readonly hasFailed: boolean;
  /** It is still looked for. */
  readonly isTentative: boolean;
}

/** Addresses that the kernel does not use, since another host has them or may have. Pure. */
export function checkDuplicates(addresses: readonly DetectedAddress[]): readonly Finding[] {
  const check = 'duplicate address';
  const findings = addresses
    .filter(({ hasFailed, isTentative }) => hasFailed || isTentative)
    .map(({ address, interface: name, hasFailed }) =>
      hasFailed
        ? fault(
            check,
            name,
            `${address} is dadfailed: another host on the link has it, and it is not used here`,
            `take it off the other host, then: ip address delete ${address} dev ${name}, and add it again`,
          )
        : warning(
            check,
            name,
            `${address} is tentative: the kernel still asks whether another host has it`,
            'look again in some seconds; if it stays so, the link has no carrier: ip link show',
          ),
    );
  return findings.length > 0
    ? findings
    : [good(check, 'this host', `${addresses.length} IPv6 addresses passed duplicate address detection`)];
}
