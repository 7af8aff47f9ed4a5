/** Characters of an error that are shown: an answer of an API server may be long. */
const LONGEST = 300;

/** `refused`: answered with a status that is not 200; `malformed`: with what is of no use; `unreachable`: not answered, or cut. */
export type ApiErrorKind = 'refused' | 'malformed' | 'unreachable';

/** A request to the API server that failed. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly kind: ApiErrorKind;
  /** The HTTP status of a refusal, of the answer or of an ERROR event. */
  readonly status: number | undefined;

  constructor(kind: ApiErrorKind, message: string, status?: number) {
    super(message);
    this.kind = kind;
    this.status = status;
  }
}

/** One line that says why, innermost reason included, bounded. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  const reason = error.cause instanceof Error ? error.cause.message : '';
  const cause = error.message.includes(reason) ? '' : `: ${reason}`;
  // Node.js gives no message when it has tried several addresses.
  const inner = error instanceof AggregateError ? error.errors.map((one) => errorText(one)).join('; ') : '';
  return oneLine(`${error.message || inner}${cause}`);
}

function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what an API server says goes to a terminal
  return text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, LONGEST);
}
