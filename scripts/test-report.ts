/** What a run of vitest leaves for `npm test`, as JSON in the file that TEST_REPORT_FILE names. */
export interface TestReport {
  readonly passed: number;
  readonly failed: readonly string[];
  readonly skipped: readonly { readonly name: string; readonly note: string }[];
  /** Errors outside any test: a file that does not load, an unhandled rejection. */
  readonly errors: readonly string[];
}
