import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
} from 'yaml';
import type { Diagnostic, Origin } from './diagnostic.ts';

/** Configurations larger than this are refused unread. */
export const MAX_CONFIG_SIZE: number = 256 * 1024;

/** Aliases may multiply what a document stands for; more than this is an attack or a mistake. */
const MAX_ALIASES = 64;

/** Uses of aliases in a document, expanded or not. */
const MAX_ALIAS_USES = 1024;

const PARSE_OPTIONS = {
  version: '1.2',
  uniqueKeys: true,
  stringKeys: true,
  prettyErrors: false,
  logLevel: 'error',
} as const;

/** A YAML document with the position of each of its keys. */
export class YamlSource {
  readonly file: string;
  readonly text: string;
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;
  readonly #problems: Diagnostic[] = [];
  #value: unknown;

  constructor(file: string, text: string) {
    this.file = file;
    this.text = text;
    this.#lines = new LineCounter();
    this.#document = this.#read(text);
    for (const fault of [...this.#document.errors, ...this.#document.warnings]) {
      this.#problem(fault.pos[0], yamlMessage(fault.code, fault.message));
    }
    this.#findLooseAliases();
    if (this.#problems.length === 0) this.#expand();
  }

  /** What is wrong with the text as YAML; when there is something, the value is not to be used. */
  get problems(): readonly Diagnostic[] {
    return this.#problems;
  }

  /** The document as plain values. */
  get value(): unknown {
    return this.#value;
  }

  #read(text: string): Document.Parsed {
    try {
      const document = parseDocument(text, { ...PARSE_OPTIONS, lineCounter: this.#lines });
      // The lexer has regular expressions that overflow as well, and the composer reports that as a fault of the text.
      if (document.errors.some((fault) => fault.message.includes('Stack overflow'))) throw new RangeError();
      return document;
    } catch (error) {
      // The composer is recursive: a text of nothing but brackets runs it off the end of the stack.
      const message = error instanceof RangeError ? 'is nested too deeply' : String(error);
      this.#problem(0, message);
      return parseDocument('', PARSE_OPTIONS);
    }
  }

  /** The composer leaves aliases without an anchor for later; here is the last chance to say where they stand. */
  #findLooseAliases(): void {
    let count = 0;
    visit(this.#document, {
      Alias: (_, alias) => {
        count += 1;
        // Resolving one costs a walk through the document.
        if (count > MAX_ALIAS_USES) {
          this.#problem(0, `has more than ${MAX_ALIAS_USES} uses of aliases`);
          return visit.BREAK;
        }
        if (alias.resolve(this.#document) !== undefined) return undefined;
        this.#problem(alias.range?.[0] ?? 0, `is not valid YAML: there is no anchor &${alias.source}`);
        return undefined;
      },
    });
  }

  #expand(): void {
    try {
      this.#value = this.#document.toJS({ maxAliasCount: MAX_ALIASES });
    } catch (error) {
      const isBomb = error instanceof ReferenceError;
      this.#problem(0, isBomb ? `has aliases that multiply beyond ${MAX_ALIASES}` : 'is nested too deeply');
    }
  }

  #problem(offset: number, message: string): void {
    const origin = this.#origin(offset);
    this.#problems.push({ origin, path: '', message, ...this.lineOf(origin) });
  }

  /** The source line of an origin in this file. */
  lineOf(origin: Origin): { sourceLine?: string } {
    if (origin.kind !== 'file') return {};
    const sourceLine = this.text.split(/\r?\n/, origin.line)[origin.line - 1];
    return sourceLine === undefined ? {} : { sourceLine };
  }

  #origin(offset: number): Origin {
    const { line, col } = this.#lines.linePos(offset);
    return { kind: 'file', file: this.file, line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  /** Where the value of a path stands. For a path that the file does not have: its nearest parent that it has. */
  valueOrigin(path: readonly PropertyKey[]): Origin {
    const { node, pair, found } = this.#find(path);
    const key = isScalar(pair?.key) ? pair.key : undefined;
    // An empty value and a missing child have no place of their own worth showing: the key that owns them has.
    const isPlaceless = found < path.length || (isScalar(node) && node.value === null);
    const place = isPlaceless && key !== undefined ? key : node;
    return this.#origin(place?.range?.[0] ?? 0);
  }

  /** Where the key of a path stands; the value where there is no key (list elements). */
  keyOrigin(path: readonly PropertyKey[]): Origin {
    const { pair, found } = this.#find(path);
    if (found === path.length && isScalar(pair?.key) && pair.key.range)
      return this.#origin(pair.key.range[0]);
    return this.valueOrigin(path);
  }

  /** True when the file itself has the path. */
  has(path: readonly PropertyKey[]): boolean {
    return this.#find(path).found === path.length;
  }

  #resolve(node: unknown): Node | undefined {
    const target = isAlias(node) ? node.resolve(this.#document) : node;
    return isMap(target) || isSeq(target) || isScalar(target) ? target : undefined;
  }

  #find(path: readonly PropertyKey[]): { node: Node | undefined; pair: Pair | undefined; found: number } {
    let node = this.#resolve(this.#document.contents);
    let pair: Pair | undefined;
    let found = 0;
    for (const segment of path) {
      if (isMap(node)) {
        const next = node.items.find(
          (item) => isScalar(item.key) && String(item.key.value) === String(segment),
        );
        if (next === undefined) break;
        pair = next;
        // The alias itself is the place in the file; its target is where the search goes on.
        node = this.#resolve(next.value) ?? (isScalar(next.key) ? next.key : undefined);
      } else if (isSeq(node)) {
        const next = node.items[Number(segment)];
        if (next === undefined) break;
        pair = undefined;
        node = this.#resolve(next);
      } else break;
      found += 1;
    }
    return { node, pair, found };
  }
}

function yamlMessage(code: string, message: string): string {
  if (code === 'DUPLICATE_KEY') return 'is not valid YAML: the key is there twice';
  if (code === 'MULTIPLE_DOCS') return 'is not valid: one document is expected, a second begins here';
  return `is not valid YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}
