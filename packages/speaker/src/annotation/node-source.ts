import type { ReflectorEvent } from './reflector.ts';

/** Lists and watches one Node. Both reject when the request fails or the signal aborts. */
export interface NodeSource {
  readonly list: (signal: AbortSignal) => Promise<ReflectorEvent>;
  /** Resolves when the API server ends it: with the failure that it told, or `undefined`. */
  readonly watch: (
    resourceVersion: string,
    timeoutSeconds: number,
    report: (event: ReflectorEvent) => void,
    signal: AbortSignal,
  ) => Promise<ReflectorEvent | undefined>;
  /** The HTTP status of a rejection; `undefined` when there was no answer. */
  readonly statusOf: (error: unknown) => number | undefined;
}
