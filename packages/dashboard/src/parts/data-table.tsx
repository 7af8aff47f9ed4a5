import type { ComponentChildren, JSX } from 'preact';

export interface DataTableProps {
  /** What it shows; read out, and its name for the keyboard. */
  readonly caption: string;
  readonly columns: readonly string[];
  /** The first cell of a row is its heading. */
  readonly rows: readonly { readonly key: string; readonly cells: readonly ComponentChildren[] }[];
  /** In place of the table while it has no rows. */
  readonly empty: string;
}

/** A table that scrolls by itself where the screen is narrower than it is. */
export function DataTable({ caption, columns, rows, empty }: DataTableProps): JSX.Element {
  if (rows.length === 0) return <p class="quiet">{empty}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <section class="scroll" aria-label={caption} tabIndex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells: [heading, ...cells] }) => (
            <tr key={key}>
              <th scope="row">{heading}</th>
              {cells.map((cell, index) => (
                <td key={columns[index + 1]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
