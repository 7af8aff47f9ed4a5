import { printable } from '../output/printable.ts';

/**
 * Where a faulty value stands: in the file, or in the flag or environment variable that overrode it. Lines and columns count from 1;
 * line 0 is the file as a whole.
 */
export type Origin =
  | { readonly kind: 'file'; readonly file: string; readonly line: number; readonly column: number }
  | { readonly kind: 'flag'; readonly name: string }
  | { readonly kind: 'environment'; readonly name: string };

/** One fault of a configuration. */
export interface Diagnostic {
  readonly origin: Origin;
  /** Path of the key as a flag spells it (`neighbors.0.holdTime`); empty for the whole document. */
  readonly path: string;
  readonly message: string;
  /** The refused value in one short line, absent where there is none (a missing key). */
  readonly value?: string;
  /** What would be accepted, for people. */
  readonly allowed?: string;
  /** The line of the file, without its line end; only with a file origin. */
  readonly sourceLine?: string;
}

const KIND_ORDER = { file: 0, environment: 1, flag: 2 } as const;

/** File order first (line, column), then environment variables and flags by name. */
function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  const byKind = KIND_ORDER[a.origin.kind] - KIND_ORDER[b.origin.kind];
  if (byKind !== 0) return byKind;
  if (a.origin.kind === 'file' && b.origin.kind === 'file') {
    return a.origin.line - b.origin.line || a.origin.column - b.origin.column || compareText(a.path, b.path);
  }
  return compareText(originText(a.origin), originText(b.origin)) || compareText(a.path, b.path);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** `file:line:column`, `--flag` or `VARIABLE`. */
export function originText(origin: Origin): string {
  if (origin.kind === 'file') {
    return origin.line === 0 ? origin.file : `${origin.file}:${origin.line}:${origin.column}`;
  }
  return origin.kind === 'flag' ? `--${origin.name}` : origin.name;
}

const SOURCE_WINDOW = 100;

/** The source line, cut to a window around the column, and a caret under the column. */
function sourceLines(line: number, column: number, source: string): string[] {
  const start = column > SOURCE_WINDOW ? column - SOURCE_WINDOW / 2 : 0;
  const shown = source.slice(start, start + SOURCE_WINDOW * 1.2);
  const before = printable(shown.slice(0, column - 1 - start).replaceAll('\t', ' '));
  const after = printable(shown.slice(column - 1 - start).replaceAll('\t', ' '));
  const lead = start > 0 ? '...' : '';
  const number = String(line).padStart(5);
  return [
    `${number} | ${lead}${before}${after}`,
    `${' '.repeat(5)} | ${' '.repeat(lead.length + before.length)}^`,
  ];
}

/** The diagnostic as text: `origin: path: message, got VALUE; allowed: ...`, then the source line with a caret. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { origin, path, message, value, allowed, sourceLine } = diagnostic;
  const place = path === '' ? '' : `${printable(path)}: `;
  const got = value === undefined ? '' : `, got ${value}`;
  const may = allowed === undefined ? '' : `; allowed: ${allowed}`;
  const first = `${originText(origin)}: ${place}${printable(message)}${got}${may}`;
  if (origin.kind !== 'file' || sourceLine === undefined) return first;
  return [first, ...sourceLines(origin.line, origin.column, sourceLine)].join('\n');
}

/** A text of more faults than this is no help to anyone. */
const MAX_SHOWN = 100;

/** A configuration that cannot be used, with everything that is wrong with it, in the order of the file. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const sorted = [...diagnostics].sort(compareDiagnostics);
    const shown = sorted.slice(0, MAX_SHOWN).map(formatDiagnostic);
    if (sorted.length > MAX_SHOWN) shown.push(`and ${sorted.length - MAX_SHOWN} more`);
    super(shown.join('\n'));
    this.diagnostics = sorted;
  }

  /** The diagnostics, one after another, without the class name. */
  override toString(): string {
    return this.message;
  }
}
