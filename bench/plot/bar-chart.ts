/** A bar chart as SVG: the median of each row as a bar, and each of its samples as a dot, so that the spread is seen. */
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { summarize } from '../statistics.ts';

export interface BarChart {
  /** Words and unit of the axis. */
  readonly axis: string;
  readonly rows: readonly { readonly label: string; readonly values: readonly number[] }[];
}

/** The text of an SVG file; black on white, since an image does not know the page's colours. */
export function barChart({ axis, rows }: BarChart): string {
  const { document } = parseHTML('<!doctype html><html><body></body></html>');
  const bars = rows.flatMap(({ label, values }) => {
    const median = summarize(values)?.p50;
    return median === undefined ? [] : [{ label, median }];
  });
  const dots = rows.flatMap(({ label, values }) => values.map((value) => ({ label, value })));
  const svg = Plot.plot({
    document,
    width: 640,
    height: 70 + 34 * bars.length,
    // Some 6.5 pixels for a character of a label.
    marginLeft: 20 + 6.5 * Math.max(...bars.map(({ label }) => label.length)),
    marginRight: 60,
    x: { label: axis, grid: true, zero: true },
    y: { label: null, domain: bars.map(({ label }) => label) },
    marks: [
      Plot.barX(bars, { y: 'label', x: 'median', fill: '#9ecae1' }),
      Plot.dot(dots, { y: 'label', x: 'value', r: 2.5, fill: 'black' }),
      Plot.ruleX([0]),
    ],
  });
  svg.setAttribute('style', 'background: white; color: black');
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return `${svg.outerHTML}\n`;
}
