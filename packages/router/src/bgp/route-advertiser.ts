/** Tells routers towards the clients which VIPs this host carries. */
export interface RouteAdvertiser {
  /**
   * From now on the VIP (`10.100.0.1/32`) is forwarded to so many members; it is advertised while there are any.
   * @param withheld why it is not, where there are none
   */
  setAdvertised(vip: string, members: number, withheld?: string): void;
}
