/** Which source says something of a member. */
export interface SourceId {
  /** `bgp`, `static`, `configMap`: what it is known by. */
  readonly kind: string;
  /** Which list of it, for people; empty where it has only one. */
  readonly name: string;
}

/** What one source says of a member, for people. */
export interface SourceView extends SourceId {
  /** `announced`, `stale: TCP closed`, `listed, draining` */
  readonly says: string;
}
