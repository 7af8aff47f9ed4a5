import { Document, isScalar, Scalar, visit } from 'yaml';
import { hasUnsafeCharacters, printable } from './printable.ts';
import { type Cell, formatTable, type Table } from './table.ts';

/** The formats of `-o`. */
export const OUTPUT_FORMATS = ['table', 'json', 'yaml'] as const;

/** One of `OUTPUT_FORMATS`. */
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/**
 * A value as text that ends with a line feed. For `table`, `table` makes the rows; several tables come one after another. Without
 * it, a list of objects becomes one row each and anything else a key and a value per line. In every format, characters that a
 * terminal would act on come as escapes; JSON and YAML keep their meaning.
 */
export function render<T>(
  value: T,
  format: OutputFormat,
  table?: (value: T) => Table | readonly Table[],
  /** Of the terminal; without it a row is one line, however long. */
  width?: number,
): string {
  if (format === 'json')
    return `${printable(JSON.stringify(value, null, 2) ?? 'null', { keepNewlines: true })}\n`;
  if (format === 'yaml') return renderYaml(value);
  const tables = table === undefined ? defaultTable(value) : table(value);
  return (isTable(tables) ? [tables] : tables).map((one) => formatTable(one, { width })).join('\n');
}

function isTable(tables: Table | readonly Table[]): tables is Table {
  return 'columns' in tables;
}

function renderYaml(value: unknown): string {
  const document = new Document(value ?? null, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, node) {
      // Only in double quotes can YAML escape a character, so that the text still means the same.
      if (isScalar(node) && typeof node.value === 'string' && hasUnsafeCharacters(node.value)) {
        node.type = Scalar.QUOTE_DOUBLE;
      }
    },
  });
  return printable(document.toString({ lineWidth: 0 }), { keepNewlines: true });
}

function defaultTable(value: unknown): Table {
  if (Array.isArray(value)) {
    const rows: Record<string, unknown>[] = value.map((row: unknown) =>
      typeof row === 'object' && row !== null ? { ...row } : { value: row },
    );
    const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    return { columns, rows: rows.map((row) => columns.map((column) => cell(row[column]))), empty: 'none' };
  }
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [['value', value]];
  return {
    columns: ['key', 'value'],
    rows: entries.map(([key, one]) => [String(key), cell(one)]),
    empty: 'none',
  };
}

function cell(value: unknown): Cell {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return JSON.stringify(value);
}
