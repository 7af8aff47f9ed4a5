/** What can go wrong with nft(8). */

/**
 * - `missing`: nft is not installed
 * - `refused`: nft or the kernel refused; `text` is nft's own, and nothing was changed
 * - `timeout`: it was killed; the transaction happened or did not, read it back
 * - `unreadable`: its output is too long, or not what libnftables-json(5) says
 * - `failed`: it could not be started
 */
export type NftablesFailure = 'missing' | 'refused' | 'timeout' | 'unreadable' | 'failed';

/** nft(8) failed. */
export class NftablesError extends Error {
  override readonly name = 'NftablesError';
  readonly reason: NftablesFailure;
  /** What nft printed, or what happened to it. */
  readonly text: string;

  constructor(
    reason: NftablesFailure,
    text: string,
    options: ErrorOptions & { readonly request?: string } = {},
  ) {
    const { request, ...rest } = options;
    const what = request === undefined ? '' : ` [${request}]`;
    super(reason === 'refused' ? `nft refused${what}: ${text}` : text, rest);
    this.reason = reason;
    this.text = text;
  }
}
