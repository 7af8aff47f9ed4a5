/** Tells routers towards the clients which VIPs this host carries. */
export interface RouteAdvertiser {
  /** From now on the VIP (`10.100.0.1/32`) is advertised, or not. */
  setAdvertised(vip: string, isAdvertised: boolean): void;
}
