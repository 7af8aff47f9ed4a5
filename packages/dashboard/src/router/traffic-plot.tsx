import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { TrafficSeries } from '../live/traffic-history.ts';

/** Distinct for most kinds of colour blindness on light and on dark ground; after eight members they begin again with another dash. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#7d5fb2', '#8a8a5c'];
const DASHES = [[], [8, 4], [2, 3], [12, 3, 2, 3]];
/** Seconds that a plot reaches back at least. */
const SHORTEST = 60;
const HEIGHT = 180;

/** Share of new connections and packets of each member over time. The table above has the same numbers as of now. */
export function TrafficPlot({
  series,
  label,
}: {
  readonly series: TrafficSeries;
  readonly label: string;
}): JSX.Element {
  const members = series.members.map(({ nextHop }) => nextHop);
  return (
    <div class="plots">
      <Plot
        title="Share of new connections, %"
        label={`Share of new connections of each member of ${label} over time`}
        members={members}
        times={series.times}
        values={series.members.map(({ shares }) => shares)}
        top={100}
      />
      <Plot
        title="Packets per second"
        label={`Packets per second to each member of ${label} over time`}
        members={members}
        times={series.times}
        values={series.members.map(({ rates }) => rates)}
      />
    </div>
  );
}

interface PlotProps {
  readonly title: string;
  readonly label: string;
  readonly members: readonly string[];
  readonly times: readonly number[];
  readonly values: readonly (readonly (number | null)[])[];
  /** The end of the axis; by default what the values need. */
  readonly top?: number;
}

function Plot({ title, label, members, times, values, top }: PlotProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const isDark = useDarkScheme();
  const names = members.join(' ');

  // Made again when its members or colours change, not for each value.
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const own = new uPlot(plotOptions(element.clientWidth, members, top), [[]], element);
    plot.current = own;
    const watch = new ResizeObserver(() => own.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      own.destroy();
    };
  }, [names, isDark]);
  useEffect(() => {
    plot.current?.setData([[...times], ...values.map((one) => [...one])]);
  });

  return (
    <figure>
      <figcaption>{title}</figcaption>
      <div ref={place} role="img" aria-label={label} class="plot" />
      <ul class="legend" aria-hidden="true">
        {members.map((name, index) => (
          <li key={name}>
            <svg width="22" height="8" viewBox="0 0 22 8" role="presentation">
              <line
                x1="0"
                x2="22"
                y1="4"
                y2="4"
                stroke={colour(index)}
                stroke-width="3"
                stroke-dasharray={dash(index).join(' ')}
              />
            </svg>
            {name}
          </li>
        ))}
      </ul>
    </figure>
  );
}

function colour(index: number): string {
  return COLOURS[index % COLOURS.length] ?? '#808080';
}

function dash(index: number): number[] {
  return DASHES[Math.floor(index / COLOURS.length) % DASHES.length] ?? [];
}

function plotOptions(width: number, members: readonly string[], top: number | undefined): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const stroke = style.getPropertyValue('--quiet').trim();
  const grid = { stroke: style.getPropertyValue('--line').trim(), width: 1 };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: (_, min, max) => [Math.min(min, max - SHORTEST), max] },
      y: { range: (_, __, max) => [0, top ?? Math.max(1, max * 1.1)] },
    },
    axes: [
      { stroke, grid, values: (_, times) => times.map(clockOf) },
      { stroke, grid, size: 56 },
    ],
    series: [
      {},
      ...members.map((name, index) => ({
        label: name,
        stroke: colour(index),
        width: 2,
        dash: dash(index),
        points: { show: false },
        ...(top !== undefined &&
          uPlot.paths.stepped !== undefined && { paths: uPlot.paths.stepped({ align: 1 }) }),
      })),
    ],
  };
}

function clockOf(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString('en-GB');
}

/** Whether the browser asks for dark colours, as it changes. */
function useDarkScheme(): boolean {
  const query = matchMedia('(prefers-color-scheme: dark)');
  const [isDark, setDark] = useState(query.matches);
  useEffect(() => {
    const follow = (): void => setDark(query.matches);
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  });
  return isDark;
}
