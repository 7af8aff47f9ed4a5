/** What a run of vitest leaves for `npm test`, as JSON in the file that TEST_REPORT_FILE names. */
export interface TestReport {
  readonly passed: number;
  readonly failed: readonly string[];
  readonly skipped: readonly { readonly name: string; readonly note: string }[];
  /** Each file with what it took, in seconds, its hooks and imports included. */
  readonly files: readonly { readonly suite: string; readonly name: string; readonly seconds: number }[];
  /** Errors outside any test: a file that does not load, an unhandled rejection. */
  readonly errors: readonly string[];
}
