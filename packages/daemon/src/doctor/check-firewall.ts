/** A base chain of nftables, of what `nft -j list chains` says of it. */
export interface NftChain {
  readonly family: string;
  readonly table: string;
  readonly name: string;
  readonly hook?: string;
  readonly policy?: string;
}

/**
 * The chains of a hook that drop what no rule accepts, by their policy or by a last rule without a condition. Whether they accept ours only
 * their other rules tell.
 * @param listed chains as nft's JSON has them
 * @param rules of all tables, as nft's JSON has them, in their order
 */
export function chainsThatDrop(
  listed: readonly Readonly<Record<string, unknown>>[],
  hook: 'input' | 'forward' | 'output',
  rules: readonly Readonly<Record<string, unknown>>[] = [],
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
    .filter((chain) => chain.hook === hook && (chain.policy === 'drop' || endsInDrop(chain, rules)));
}

/** Statements that let nothing pass. A match, or a limit, is a condition. */
const FINAL = new Set(['drop', 'reject']);
const WITHOUT_EFFECT = new Set(['counter', 'log']);

function endsInDrop(chain: NftChain, rules: readonly Readonly<Record<string, unknown>>[]): boolean {
  const own = rules.filter(
    ({ family, table, chain: name }) =>
      family === chain.family && table === chain.table && name === chain.name,
  );
  const expression = own.at(-1)?.['expr'];
  const statements: readonly unknown[] = Array.isArray(expression) ? expression : [];
  const kinds = statements.flatMap((one) =>
    typeof one === 'object' && one !== null ? Object.keys(one) : [],
  );
  const effective = kinds.filter((kind) => !WITHOUT_EFFECT.has(kind));
  return effective.length === 1 && FINAL.has(effective[0] ?? '');
}
