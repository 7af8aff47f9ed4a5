import * as z from 'zod';
import { SecretError } from './read-secret.ts';

/** How BFD with a neighbor is authenticated (RFC 5880 section 6.7). */
export interface BfdAuthenticationConfig {
  readonly authentication: 'auto' | 'meticulous-keyed-sha1' | 'none';
  readonly keyId: number;
}

/** Keys of `bfd` that are about authentication. */
export const bfdAuthenticationKeys: {
  readonly authentication: z.ZodDefault<
    z.ZodEnum<{ auto: 'auto'; 'meticulous-keyed-sha1': 'meticulous-keyed-sha1'; none: 'none' }>
  >;
  readonly keyId: z.ZodDefault<z.ZodInt>;
} = {
  authentication: z
    .enum(['auto', 'meticulous-keyed-sha1', 'none'])
    .default('auto')
    .describe(
      'Authentication of BFD packets (RFC 5880 section 6.7). `auto`: with a `passwordFile` both ends offer it in the BGP session, and where both do it is in use as long as that session lasts; others (FRR, BIRD) are taken without. `meticulous-keyed-sha1`: always, with the password itself as key (1 to 20 octets), as BIRD has it. `none`: never. The offer is made in the OPEN: a reload of the speaker that changes this from or to `auto` ends the BGP session and makes it again, and one of the router is refused.',
    ),
  keyId: z
    .int()
    .min(0)
    .max(255)
    .default(1)
    .describe('Auth Key ID with `authentication: meticulous-keyed-sha1`; the same on both sides.'),
};

/** The longest key of Keyed SHA1 (RFC 5880 section 6.7.4). */
const LONGEST_KEY = 20;

/** Refuses a password that cannot be a key of BFD where it has to be one. @throws SecretError */
export function checkBfdPassword(
  file: string,
  password: string,
  bfd: BfdAuthenticationConfig | false | undefined,
): string {
  const length = Buffer.byteLength(password);
  if (
    bfd !== undefined &&
    bfd !== false &&
    bfd.authentication === 'meticulous-keyed-sha1' &&
    length > LONGEST_KEY
  ) {
    throw new SecretError(
      file,
      `has ${length} octets; allowed with bfd.authentication meticulous-keyed-sha1: 1 to ${LONGEST_KEY} (RFC 5880 section 6.7.4)`,
    );
  }
  return password;
}

/** Why this authentication cannot be had; `undefined`: it can. */
export function bfdAuthenticationFault(
  bfd: BfdAuthenticationConfig | false | undefined,
  passwordFile: string | undefined,
): string | undefined {
  const needsKey = bfd !== undefined && bfd !== false && bfd.authentication === 'meticulous-keyed-sha1';
  return needsKey && passwordFile === undefined ? 'needs a passwordFile: the password is the key' : undefined;
}
