/** The annotation of a Node by which its master is drained. */
export const DRAIN_ANNOTATION = 'bgp-lb.dev/drain';

/** What a Node asks for. `force`: also when no other master would be left in the pool. */
export type DrainWish = 'none' | 'drain' | 'force';

/** What the annotation's text means; `undefined` when it means nothing. An annotation without text drains. */
export function drainWishOf(text: string | undefined): DrainWish | undefined {
  switch (text) {
    case undefined:
    case 'false':
      return 'none';
    case '':
    case 'true':
      return 'drain';
    case 'force':
      return 'force';
    default:
      return undefined;
  }
}
