/** What the demo found; `npm run demo -- --json` prints it as its last line. All times in milliseconds. */
export interface DemoFigures {
  /** True when nothing broke that should not. */
  ok: boolean;
  /** From the success of kubeadm on a master to its place in the pool. */
  timeToPoolMs: Record<string, number>;
  silentDeath: Departure & { nextSuccessMs: number };
  sigterm: Departure;
  return: { connections: number; broken: number };
  speakerRestart: { broken: number };
  /** Packets pass through the load balancer only where the kernel forwards them. */
  routerRestart: { requestsLost: number; packetsLost?: number };
  tookMs: number;
}

/** A master left the pool. */
export interface Departure {
  removedMs: number;
  /** Long connections that were served by other masters, and how many of them broke. */
  survivors: number;
  brokenAtSurvivors: number;
}

/** Whether the figures keep what the product promises. */
export function keepsItsPromise(figures: Omit<DemoFigures, 'ok'>): boolean {
  const { silentDeath, sigterm, speakerRestart, routerRestart } = figures;
  return (
    silentDeath.survivors > 0 &&
    sigterm.survivors > 0 &&
    figures.return.connections > 0 &&
    [
      silentDeath.brokenAtSurvivors,
      sigterm.brokenAtSurvivors,
      figures.return.broken,
      speakerRestart.broken,
      routerRestart.requestsLost,
      routerRestart.packetsLost ?? 0,
    ].every((count) => count === 0)
  );
}
