import { statSync } from 'node:fs';
import { checkBfdPassword, ReloadError, readSecret } from '@bgp-lb/daemon';
import type { RouterPasswords } from '../bgp/advertiser.ts';
import type { RouterPeerConfig } from '../config/speaker-config.ts';

/** The TCP-MD5 passwords of the routers. @throws SecretError for a file that cannot be used */
export function readPasswords(routers: readonly RouterPeerConfig[]): RouterPasswords {
  return new Map(
    routers.flatMap((router) => {
      const files = passwordFiles(router);
      return files.length === 0
        ? []
        : [
            [
              router.address,
              files.map((file) => checkBfdPassword(file, readSecret(file), router.bfd)),
            ] as const,
          ];
    }),
  );
}

function passwordFiles({ passwordFile, nextPasswordFile }: RouterPeerConfig): readonly string[] {
  return [passwordFile, nextPasswordFile].filter((file) => file !== undefined);
}

/**
 * Refuses files that were replaced by rename behind a mount of the single file: the mount goes on showing the old one, so that a
 * reload would take for new what is not.
 * @throws ReloadError
 */
export function refuseStaleMounts(configFile: string, routers: readonly RouterPeerConfig[]): void {
  for (const file of [configFile, ...routers.flatMap(passwordFiles)]) {
    if (statSync(file, { throwIfNoEntry: false })?.nlink !== 0) continue;
    throw new ReloadError(
      `nothing was reloaded, since ${file} was replaced and this container still has the old one mounted: start the speaker anew; a file that is written in place can be reloaded`,
    );
  }
}
