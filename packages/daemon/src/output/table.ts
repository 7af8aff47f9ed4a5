import { printable } from './printable.ts';

/** A column: its heading, and how its cells stand. Numbers stand right by default. */
export interface Column {
  readonly name: string;
  readonly align?: 'left' | 'right';
}

/** What a cell may hold; undefined and null are shown as `-`. */
export type Cell = string | number | boolean | null | undefined;

/** Rows for people. */
export interface Table {
  readonly columns: readonly (string | Column)[];
  readonly rows: readonly (readonly Cell[])[];
  /** Said instead of a heading over nothing. */
  readonly empty?: string;
}

function cellText(cell: Cell): string {
  if (cell === undefined || cell === null || cell === '') return '-';
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  return printable(String(cell));
}

function width(text: string): number {
  return [...text].length;
}

/** Columns between two cells. */
const GAP = 2;
/** A column is not made narrower than this to fit a terminal, nor narrower than its heading. */
const LEAST_WIDTH = 12;

/**
 * Aligned columns, two spaces apart, headings in capitals, without trailing spaces. Text from the network is made harmless. Each row
 * is one line, which other programs can read; with the `width` of a terminal, text that does not fit is wrapped in its column.
 */
export function formatTable(table: Table, options: { readonly width?: number | undefined } = {}): string {
  if (table.rows.length === 0 && table.empty !== undefined) return `${table.empty}\n`;
  const columns = table.columns.map((column) => (typeof column === 'string' ? { name: column } : column));
  const body = table.rows.map((row) => columns.map((_, index) => cellText(row[index])));
  const heading = columns.map((column) => printable(column.name.toUpperCase()));
  const natural = columns.map((_, index) =>
    Math.max(...[heading, ...body].map((line) => width(line[index] ?? ''))),
  );
  const least = columns.map((_, index) =>
    Math.min(natural[index] ?? 0, Math.max(LEAST_WIDTH, width(heading[index] ?? ''))),
  );
  const widths =
    options.width === undefined
      ? natural
      : fitted(natural, least, options.width - GAP * (columns.length - 1));
  const isRight = columns.map(
    (column, index) => (column.align ?? (isNumeric(table.rows, index) ? 'right' : 'left')) === 'right',
  );
  return [heading, ...body]
    .flatMap((cells) => linesOf(cells, widths))
    .map((line) => line.map((text, index) => pad(text, widths[index] ?? 0, isRight[index] === true)))
    .map((cells) => `${cells.join(' '.repeat(GAP)).trimEnd()}\n`)
    .join('');
}

/** Widths that add up to `room` at most where that can be had: the widest columns give up most. */
function fitted(natural: readonly number[], least: readonly number[], room: number): readonly number[] {
  const capped = (cap: number): number[] =>
    natural.map((one, index) => Math.max(least[index] ?? 0, Math.min(one, cap)));
  const sum = (widths: readonly number[]): number => widths.reduce((total, one) => total + one, 0);
  let cap = Math.max(0, ...natural);
  while (cap > 0 && sum(capped(cap)) > room) cap -= 1;
  return capped(cap);
}

/** A row as the lines that its longest cell takes. */
function linesOf(cells: readonly string[], widths: readonly number[]): string[][] {
  const wrapped = cells.map((text, index) => wrap(text, widths[index] ?? 0));
  const count = Math.max(1, ...wrapped.map((lines) => lines.length));
  return Array.from({ length: count }, (_, line) => wrapped.map((lines) => lines[line] ?? ''));
}

/** Breaks text between words; a word that is longer than a line is broken too. */
function wrap(text: string, limit: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const joined = lines.length === 0 && line === '' ? word : `${line} ${word}`;
    if (width(joined.trimStart()) <= limit) {
      line = joined.trimStart();
      continue;
    }
    if (line !== '') lines.push(line);
    const characters = [...word];
    while (characters.length > limit && limit > 0) lines.push(characters.splice(0, limit).join(''));
    line = characters.join('');
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line];
}

function isNumeric(rows: Table['rows'], index: number): boolean {
  return rows.length > 0 && rows.every((row) => typeof row[index] === 'number');
}

function pad(text: string, wanted: number, isRight: boolean): string {
  const space = ' '.repeat(Math.max(0, wanted - width(text)));
  return isRight ? space + text : text + space;
}
