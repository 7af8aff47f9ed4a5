/** Medians and their spread. Nothing is left out: discarded samples are named beside the summary. */

/** What a set of samples comes to, in the unit of the samples. */
export interface Summary {
  readonly n: number;
  readonly min: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Rounds to a number of decimal places. */
export function round(value: number, places: number): number {
  const factor = 10 ** places;
  return Math.round(value * factor) / factor;
}

/** The sample below or at which `share` of all lie (nearest rank); NaN of none. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** The middle sample, or the mean of the two in the middle: of two rounds the better one is not the median. */
function median(sorted: readonly number[]): number {
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
}

/** Summarizes all samples; undefined when there are none. */
export function summarize(samples: readonly number[], places = 3): Summary | undefined {
  if (samples.length === 0) return undefined;
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number): number => round(percentile(sorted, share), places);
  return { n: sorted.length, min: at(0), p50: round(median(sorted), places), p99: at(0.99), max: at(1) };
}

/** A summary with all that it summarizes. */
export interface Sampled extends Summary {
  readonly samples: readonly number[];
}

/** Summarizes all samples and keeps them, rounded likewise; undefined when there are none. */
export function sampled(samples: readonly number[], places = 3): Sampled | undefined {
  const summary = summarize(samples, places);
  return summary && { ...summary, samples: samples.map((sample) => round(sample, places)) };
}

/** What a figure is of FRR's, for people; empty when one of them is missing. */
export function ofFrr(figure: number | undefined, frr: number | undefined): string {
  const ratio = (figure ?? Number.NaN) / (frr ?? Number.NaN);
  if (!Number.isFinite(ratio)) return '';
  return ratio < 0.1 ? ratio.toPrecision(1) : ratio.toFixed(2);
}
