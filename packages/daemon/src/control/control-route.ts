/** A request as a handler sees it. */
export interface ControlRequest {
  /** Decoded `:name` parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** The query; of a repeated name the last value counts. */
  readonly query: Readonly<Record<string, string>>;
  /** The JSON body of a POST, undefined when it has none. */
  readonly body: unknown;
}

/** One operation of the API. */
export interface ControlRoute {
  /** POST changes things and is answered on the Unix socket only. */
  readonly method: 'GET' | 'POST';
  /** `/api/v1/status`, or with parameters `/api/v1/neighbors/:name`. */
  readonly path: string;
  /** Returns what becomes the JSON body, or a `ControlReply` or a `ControlStream`. Throws `ControlError` for anything but 200. */
  handle(request: ControlRequest): unknown | Promise<unknown>;
}

/** An answer that is not JSON, like a page. */
export class ControlReply {
  readonly contentType: string;
  readonly body: string | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    contentType: string,
    body: string | Uint8Array,
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.contentType = contentType;
    this.body = body;
    this.headers = headers;
  }
}

/** An answer without an end: octets for as long as the client listens. */
export class ControlStream {
  readonly contentType: string;
  /** Begins to write; returns what ends it. What is written to a client that does not read is kept up to a bound. */
  readonly start: (write: (bytes: Uint8Array) => void) => () => void;

  constructor(contentType: string, start: (write: (bytes: Uint8Array) => void) => () => void) {
    this.contentType = contentType;
    this.start = start;
  }
}

/** A refusal by a handler: an HTTP status with a sentence for people. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface CompiledRoute {
  readonly route: ControlRoute;
  readonly segments: readonly string[];
}

/** What a path leads to: a route, the methods that the path would take, or nothing. */
export type RouteMatch =
  | {
      readonly kind: 'route';
      readonly route: ControlRoute;
      readonly params: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'method'; readonly allow: readonly string[] }
  | { readonly kind: 'none' };

/** Finds routes by method and path. A literal segment wins over a parameter. */
export class RouteTable {
  readonly #routes: readonly CompiledRoute[];

  constructor(routes: readonly ControlRoute[]) {
    this.#routes = routes.map((route) => ({ route, segments: route.path.split('/') }));
  }

  match(method: string, path: string): RouteMatch {
    const segments = path.split('/');
    const fitting = this.#routes
      .flatMap((compiled) => {
        const params = matchSegments(compiled.segments, segments);
        return params === undefined ? [] : [{ route: compiled.route, params }];
      })
      .sort((a, b) => Object.keys(a.params).length - Object.keys(b.params).length);
    if (fitting.length === 0) return { kind: 'none' };
    const wanted = method === 'HEAD' ? 'GET' : method;
    const found = fitting.find(({ route }) => route.method === wanted);
    if (found !== undefined) return { kind: 'route', ...found };
    return { kind: 'method', allow: [...new Set(fitting.map(({ route }) => route.method))] };
  }
}

function matchSegments(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (!part.startsWith(':')) {
      if (part !== segment) return undefined;
      continue;
    }
    const value = decodeSegment(segment);
    if (value === undefined || value === '') return undefined;
    params[part.slice(1)] = value;
  }
  return params;
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
