/** Prints the timeline: the time since the start, then a sentence. */
export class Narrator {
  readonly #startedAt = performance.now();
  readonly #write: (line: string) => void;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  /** Milliseconds since the start. */
  get elapsed(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  /** A new part of the story. */
  chapter(title: string): void {
    this.#write('');
    this.#write(title);
  }

  /** One thing that happened now. */
  say(sentence: string): void {
    const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(2);
    this.#write(`${seconds.padStart(8)} s  ${sentence}`);
  }
}
