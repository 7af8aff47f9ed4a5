/** How many lines of a kind are written within a minute. */
export interface LineLimits {
  /** Lines of one kind about one subject: a neighbor, an address, a member. */
  readonly perSubject: number;
  /** Lines of one kind in all. */
  readonly perKind: number;
}

/** Lines of one kind that were not written. */
export interface SuppressedLines {
  readonly kind: string;
  readonly count: number;
  /** The subject that most of them were about; empty when they had none, or too many to count them apart. */
  readonly subject: string;
  /** Of `count`, those about that subject. */
  readonly ofSubject: number;
  /** Milliseconds in which they came. */
  readonly within: number;
}

export interface LineLimiterOptions {
  /** Monotonic milliseconds, and a timer that returns what cancels it. */
  readonly clock: { now(): number; after(ms: number, run: () => void): () => void };
  /** Hears at the end of a minute of what was not written in it. */
  readonly suppressed: (lines: SuppressedLines) => void;
}

const WINDOW_MS = 60_000;
/** Subjects of one kind that are counted apart within a minute; the others share what the kind has left. */
const MOST_SUBJECTS = 256;

interface Window {
  readonly since: number;
  written: number;
  suppressed: number;
  /** Lines by subject, written or not. */
  readonly subjects: Map<string, number>;
  /** Lines by subject that were not written. */
  readonly quiet: Map<string, number>;
  cancel: () => void;
}

/**
 * Lets only so many lines of a kind pass within a minute, so that a peer that can cause one as often as it likes does not fill a disk. What
 * was left out is told when the minute is over. Kinds are the program's own words; subjects may be a stranger's to choose.
 */
export class LineLimiter {
  readonly #options: LineLimiterOptions;
  readonly #windows = new Map<string, Window>();

  constructor(options: LineLimiterOptions) {
    this.#options = options;
  }

  /** Whether one more line may be written now. */
  admits(kind: string, subject: string, { perSubject, perKind }: LineLimits): boolean {
    const window = this.#windowOf(kind);
    const about = countIn(window.subjects, subject);
    if (window.written < perKind && about <= perSubject) {
      window.written += 1;
      return true;
    }
    countIn(window.quiet, subject);
    window.suppressed += 1;
    if (window.suppressed === 1) {
      const { clock } = this.#options;
      const left = Math.max(0, window.since + WINDOW_MS - clock.now());
      window.cancel = clock.after(left, () => this.#end(kind));
    }
    return false;
  }

  /** Tells now of what was not written, and begins again. */
  close(): void {
    for (const kind of [...this.#windows.keys()]) this.#end(kind);
  }

  #windowOf(kind: string): Window {
    const now = this.#options.clock.now();
    const open = this.#windows.get(kind);
    if (open !== undefined && now - open.since < WINDOW_MS) return open;
    if (open !== undefined) this.#end(kind);
    const window = {
      since: now,
      written: 0,
      suppressed: 0,
      subjects: new Map(),
      quiet: new Map(),
      cancel: () => undefined,
    };
    this.#windows.set(kind, window);
    return window;
  }

  #end(kind: string): void {
    const window = this.#windows.get(kind);
    if (window === undefined) return;
    this.#windows.delete(kind);
    window.cancel();
    const { suppressed: count, since, quiet } = window;
    if (count === 0) return;
    const [subject = '', ofSubject = 0] = [...quiet].sort(([, a], [, b]) => b - a)[0] ?? [];
    const within = Math.round(this.#options.clock.now() - since);
    this.#options.suppressed({ kind, count, subject, ofSubject, within });
  }
}

/** @returns how many there are with this one; 1 for a subject for which there is no room */
function countIn(counts: Map<string, number>, subject: string): number {
  const count = (counts.get(subject) ?? 0) + 1;
  if (count === 1 && counts.size >= MOST_SUBJECTS) return 1;
  counts.set(subject, count);
  return count;
}

/** What a log says of lines that are not in it. */
export function suppressedText({ kind, count, subject, ofSubject, within }: SuppressedLines): string {
  const most = subject === '' ? '' : `, ${ofSubject} of them about ${subject}`;
  return `${count} more lines of "${kind}" within ${Math.round(within / 1000)} s were not written${most}`;
}
