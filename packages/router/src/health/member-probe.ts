import type { ProbeVerdict } from '../pool/member-view.ts';

/** What one probe of a member found, whatever it was made of. */
export interface ProbeReport {
  /** `undefined`: the member was not asked, since this host could not, and nothing is known of it. */
  readonly verdict: ProbeVerdict | undefined;
  /** One word in the terms of the kind of probe, for metrics: `ok`, `timeout`. */
  readonly result: string;
  readonly tookMs: number;
  /** One sentence for people. Words of the server in it are bounded and harmless. */
  readonly detail: string;
  /** What is worth saying of it besides. */
  readonly warnings: readonly string[];
}

/** Probes one member, again and again. */
export interface MemberProbe {
  /** What it is made of: `https`. */
  readonly kind: string;
  /** Never rejects: every outcome is a report. */
  probe(): Promise<ProbeReport>;
  close(): void;
}
