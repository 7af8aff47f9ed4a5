/** A Markdown table, aligned for people who read it in a terminal. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, 3, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]): string => {
    // The first column names things, the others hold figures.
    const padded = widths.map((width, column) =>
      column === 0 ? (cells[column] ?? '').padEnd(width) : (cells[column] ?? '').padStart(width),
    );
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}
