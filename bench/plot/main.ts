/** Program `npm run plot -- FOLDER REPORT.json...`: charts of what `npm run bench -- ... --json` printed, as SVG files. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { barChart } from './bar-chart.ts';
import { chartsOf, type PlottedReport } from './charts.ts';

const plotted: readonly string[] = ['ingest', 'reflect', 'sessions'] satisfies PlottedReport['bench'][];

function readReport(file: string): PlottedReport {
  const report = JSON.parse(readFileSync(file, 'utf8')) as { readonly bench?: unknown };
  if (typeof report.bench !== 'string' || !plotted.includes(report.bench)) {
    throw new Error(`${file}: not a report of ${plotted.join(', ')}, but of ${String(report.bench)}`);
  }
  return report as PlottedReport;
}

const [folder, ...files] = process.argv.slice(2);
if (folder === undefined || files.length === 0) {
  console.error('usage: npm run plot -- FOLDER REPORT.json...');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
for (const report of files.map(readReport)) {
  for (const [name, chart] of Object.entries(chartsOf(report))) {
    writeFileSync(`${folder}/${name}.svg`, barChart(chart));
    console.log(`${folder}/${name}.svg`);
  }
}
