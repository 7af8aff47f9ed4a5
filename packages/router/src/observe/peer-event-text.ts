import type { PeerEvent } from '@bgp-lb/protocol/node';

/** What happened to a BGP session, in words. */
export function peerEventText(event: PeerEvent): string {
  switch (event.type) {
    case 'transition':
      return `${event.from} -> ${event.to}: ${event.reason}`;
    case 'notification-sent':
      return `sent NOTIFICATION ${event.text}`;
    case 'notification-received':
      return `received NOTIFICATION ${event.text}`;
    case 'connection-refused':
      return `connection refused: ${event.reason}`;
    case 'attribute-fault':
      return `attribute ${event.attribute}: ${event.reason} (${event.action})`;
    case 'idle-hold':
      return event.seconds === Number.POSITIVE_INFINITY
        ? 'left alone until it is reset'
        : `left alone for ${event.seconds} s after repeated failures or too many prefixes`;
    case 'paths-kept':
      return `${event.count} paths kept as stale for ${event.seconds} s`;
    case 'stale-paths-removed':
      return `${event.count} stale paths removed: ${event.reason}`;
    case 'refresh-ignored':
      return `route refresh of ${event.family} ignored: it began before the End-of-RIB`;
    case 'forgotten':
      return 'no session and no path left';
  }
}
