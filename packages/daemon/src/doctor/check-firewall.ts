/** A base chain of nftables, of what `nft -j list chains` says of it. */
export interface NftChain {
  readonly family: string;
  readonly table: string;
  readonly name: string;
  readonly hook?: string;
  readonly policy?: string;
}

/**
 * The chains of a hook that drop what nobody accepts. Whether they accept ours only their rules tell.
 * @param listed chains as nft's JSON has them
 */
export function chainsThatDrop(
  listed: readonly Readonly<Record<string, unknown>>[],
  hook: 'input' | 'forward' | 'output',
): readonly NftChain[] {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return listed
    .map((chain) => ({
      family: text(chain['family']),
      table: text(chain['table']),
      name: text(chain['name']),
      hook: text(chain['hook']),
      policy: text(chain['policy']),
    }))
    .filter((chain) => chain.hook === hook && chain.policy === 'drop');
}
