import { whyOptionNotTaken } from './known-lines.ts';

/** Of health checks; undefined where nothing is said. Milliseconds. */
export interface CheckPace {
  readonly interval?: number;
  readonly rise?: number;
  readonly fall?: number;
}

/** What the options of a `server` or `default-server` say. */
export interface ServerOptions {
  readonly pace: CheckPace;
  /** `verify none`; undefined where it is not said. */
  readonly isVerified?: boolean;
  readonly isDisabled: boolean;
  readonly replaced: readonly { readonly text: string; readonly reason: string }[];
  /** Options that mean nothing to us; those that stand side by side as one. */
  readonly unknown: readonly string[];
}

/** Without a meaning here: a check and its TLS are there in any case. */
const plain = new Set(['check', 'check-ssl']);

/** Reads the options behind `server NAME ADDRESS`. Pure. */
export function serverOptions(options: readonly string[]): ServerOptions {
  let pace: CheckPace = {};
  let isVerified: boolean | undefined;
  let isDisabled = false;
  const replaced: { text: string; reason: string }[] = [];
  const unknown: string[] = [];
  let isBesideUnknown = false;
  for (let at = 0; at < options.length; at += 1) {
    const option = options[at] ?? '';
    const value = options[at + 1] ?? '';
    const text = `${option} ${value}`;
    const paced = paceOf(option, value);
    const reason = whyOptionNotTaken(option, value);
    const wasBeside = isBesideUnknown;
    isBesideUnknown = false;
    if (paced !== undefined) {
      at += 1;
      if (typeof paced === 'string') replaced.push({ text, reason: paced });
      else pace = { ...pace, ...paced };
    } else if (option === 'verify' && (value === 'none' || value === 'required')) {
      at += 1;
      isVerified = value === 'required';
    } else if (reason !== undefined) {
      at += 1;
      replaced.push({ text, reason });
    } else if (option === 'disabled') isDisabled = true;
    else if (option === 'backup')
      replaced.push({ text: option, reason: 'it becomes a member like the others' });
    else if (!plain.has(option)) {
      if (wasBeside) unknown.push(`${unknown.pop()} ${option}`);
      else unknown.push(option);
      isBesideUnknown = true;
    }
  }
  return { pace, isDisabled, replaced, unknown, ...(isVerified !== undefined && { isVerified }) };
}

/** A text is why a value is not taken; undefined for other options. */
function paceOf(option: string, value: string): CheckPace | string | undefined {
  if (option === 'inter') {
    const interval = milliseconds(value);
    if (interval === undefined) return undefined;
    const isUsable = Number.isInteger(interval) && interval >= 100 && interval <= 60_000;
    return isUsable ? { interval } : 'healthCheck.interval is 100ms to 1m';
  }
  if ((option !== 'rise' && option !== 'fall') || !/^\d+$/.test(value)) return undefined;
  const count = Number(value);
  return count >= 1 && count <= 100 ? { [option]: count } : `healthCheck.${option} is 1 to 100`;
}

/** HAProxy's times are milliseconds without a unit. */
function milliseconds(text: string): number | undefined {
  const match = /^(\d+)(us|ms|s|m|h|d)?$/.exec(text);
  if (match === null) return undefined;
  const factors: Record<string, number> = {
    us: 0.001,
    ms: 1,
    s: 1000,
    m: 60_000,
    h: 3_600_000,
    d: 86_400_000,
  };
  return Number(match[1]) * (factors[match[2] ?? 'ms'] ?? 1);
}
