import type { HeardRouter } from './heard-routers.ts';
import type { InstanceState } from './notify-line.ts';

/** What is known when the state of keepalived changes. */
export interface ReasonFacts {
  readonly state: InstanceState;
  readonly priority: number;
  readonly unfit: string | undefined;
  /** The peer that said last of the VIPs that it has them, or gives them up. */
  readonly heard: HeardRouter | undefined;
  /** After so long a silent owner counts as dead (ms). */
  readonly window: number;
  readonly interface: string;
}

/** Why keepalived is in a state, in words; it does not say so itself. Pure. */
export function stateReason({ state, priority, unfit, heard, window, interface: name }: ReasonFacts): string {
  const isFresh = heard !== undefined && heard.agoMs < window;
  if (state === 'master') {
    if (heard === undefined) return 'no other load balancer was heard';
    if (heard.priority === 0) return `${heard.source} gave them up`;
    return isFresh && heard.priority <= priority
      ? `its priority ${priority} is not below the ${heard.priority} of ${heard.source}`
      : `${heard.source} fell silent`;
  }
  if (state === 'backup') {
    return isFresh && heard.priority > 0
      ? `${heard.source} has them, with priority ${heard.priority}`
      : 'it waits whether another load balancer has them';
  }
  if (state === 'stop') return 'keepalived does not run';
  return unfit ?? `keepalived finds ${name}, or its address there, gone`;
}
