/** Who carries a VIP. */
export interface CarriedBy {
  /** So many members are forwarded to; it is advertised while there are any. */
  readonly members: number;
  /** Why it is not advertised, where there are none. */
  readonly withheld?: string | undefined;
}

/** Tells routers towards the clients which VIPs this host carries. */
export interface RouteAdvertiser {
  /** From now on these VIPs (`10.100.0.1/32`) are carried so; all that they are told of at once goes out together. */
  setAdvertised(vips: ReadonlyMap<string, CarriedBy>): void;
}
