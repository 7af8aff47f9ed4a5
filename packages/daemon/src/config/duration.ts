import { FieldError, type FieldKind, type TextField, textField } from './field.ts';

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;
const EXAMPLES = "a number with a unit, like '300ms', '1s', '2m' or '1h'";

/** Milliseconds as the shortest duration text: `9s`, `1500ms`, `2m`. */
export function formatDuration(milliseconds: number): string {
  for (const unit of ['h', 'm', 's'] as const) {
    if (milliseconds !== 0 && milliseconds % UNITS[unit] === 0) return `${milliseconds / UNITS[unit]}${unit}`;
  }
  return milliseconds === 0 ? '0s' : `${milliseconds}ms`;
}

/** Milliseconds of a duration text (`300ms`, `1.5s`, `2m`, `1h`), or undefined when it is none or not whole milliseconds. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text);
  const unit = match?.[2];
  if (match?.[1] === undefined || (unit !== 'ms' && unit !== 's' && unit !== 'm' && unit !== 'h'))
    return undefined;
  const milliseconds = Math.round(Number(match[1]) * UNITS[unit] * 1000) / 1000;
  return Number.isSafeInteger(milliseconds) ? milliseconds : undefined;
}

/** Limits of a duration, in milliseconds, both included. */
export interface DurationLimits {
  readonly min?: number;
  readonly max?: number;
}

/** 24 days: what a Node timer takes (2^31 - 1 ms). */
const LONGEST = 2_147_483_647;

/** A duration in the file (`300ms`, `1s`, `2m`, `1h`), milliseconds in the program. A number without a unit is refused. */
export function duration(limits: DurationLimits = {}): TextField<number> {
  const { min = 0, max = LONGEST } = limits;
  const range = rangeText(limits);
  const kind: FieldKind = {
    type: 'duration',
    allowed: range === undefined ? EXAMPLES : `${EXAMPLES}, ${range}`,
    ...(range === undefined ? {} : { limits: range }),
    format: (value: unknown) => (typeof value === 'number' ? formatDuration(value) : value),
    jsonSchema: { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?(ms|s|m|h)$', examples: ['300ms', '9s'] },
  };
  return textField(
    kind,
    (text) => {
      const milliseconds = parseDuration(text);
      if (milliseconds === undefined) throw new FieldError(noDurationText(text));
      if (milliseconds < min) throw new FieldError('is too short');
      if (milliseconds > max) throw new FieldError('is too long');
      return milliseconds;
    },
    (input) => (typeof input === 'number' ? `has no unit (${input}s? ${input}ms?)` : undefined),
  );
}

function rangeText(limits: DurationLimits): string | undefined {
  const { min, max } = limits;
  if (min !== undefined && max !== undefined) return `${formatDuration(min)} to ${formatDuration(max)}`;
  if (min !== undefined) return `at least ${formatDuration(min)}`;
  return max === undefined ? undefined : `at most ${formatDuration(max)}`;
}

function noDurationText(text: string): string {
  if (/^\d+(\.\d+)?$/.test(text)) return `has no unit (${text}s? ${text}ms?)`;
  return DURATION.test(text) ? 'is finer than a millisecond' : 'is not a duration';
}
