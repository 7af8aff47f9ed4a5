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

/** Aligned columns, two spaces apart, one line per row, without trailing spaces. Text from the network is made harmless. */
export function formatTable(table: Table): string {
  if (table.rows.length === 0 && table.empty !== undefined) return `${table.empty}\n`;
  const columns = table.columns.map((column) => (typeof column === 'string' ? { name: column } : column));
  const body = table.rows.map((row) => columns.map((_, index) => cellText(row[index])));
  const lines = [columns.map((column) => printable(column.name)), ...body];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => width(line[index] ?? ''))));
  const isRight = columns.map(
    (column, index) => (column.align ?? (isNumeric(table.rows, index) ? 'right' : 'left')) === 'right',
  );
  return lines
    .map((line) => line.map((text, index) => pad(text, widths[index] ?? 0, isRight[index] === true)))
    .map((cells) => `${cells.join('  ').trimEnd()}\n`)
    .join('');
}

function isNumeric(rows: Table['rows'], index: number): boolean {
  return rows.length > 0 && rows.every((row) => typeof row[index] === 'number');
}

function pad(text: string, wanted: number, isRight: boolean): string {
  const space = ' '.repeat(Math.max(0, wanted - width(text)));
  return isRight ? space + text : text + space;
}
