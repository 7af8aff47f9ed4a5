import type { Link } from '@bgp-lb/linux';
import { applySysctls, type SysctlAccess, wantedSysctls } from './sysctls.ts';

/** What a look at the sysctls found and did. */
interface SysctlLook {
  /** Settings that were needed for the first time. */
  readonly configured: readonly string[];
  /** Settings that had been changed back. */
  readonly repaired: readonly string[];
  readonly problems: readonly string[];
}

/** Keeps the sysctls that forwarding needs. */
export class SysctlKeeper {
  readonly #access: SysctlAccess;
  readonly #isManaging: boolean;
  #made: ReadonlySet<string> = new Set();

  /** @param isManaging false: what is missing is only said */
  constructor(access: SysctlAccess, isManaging: boolean) {
    this.#access = access;
    this.#isManaging = isManaging;
  }

  /**
   * @param memberInterfaces names of the interfaces towards members
   * @param isReadBack this is a look at what is there, and not a change of what is wanted
   */
  apply(
    versions: readonly (4 | 6)[],
    memberInterfaces: readonly string[],
    links: Iterable<Link>,
    isReadBack: boolean,
  ): SysctlLook {
    const settings = wantedSysctls({
      versions: [...new Set(versions)],
      memberInterfaces: [...new Set(memberInterfaces)],
      interfaces: [...links].filter(({ isLoopback }) => !isLoopback).map(({ name }) => name),
    });
    const { changed, problems } = applySysctls(settings, this.#access, this.#isManaging);
    const isRepair = isReadBack && settings.every(({ name }) => this.#made.has(name));
    this.#made = new Set(settings.map(({ name }) => name));
    return { configured: isRepair ? [] : changed, repaired: isRepair ? changed : [], problems };
  }
}
