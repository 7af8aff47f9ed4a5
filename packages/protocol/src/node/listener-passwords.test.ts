import { describe, expect, it } from 'vitest';
import { asn, parseRouterId } from '../index.ts';
import type { Sockets } from './sockets.ts';
import { BgpSpeaker } from './speaker.ts';

/** Writes down the keys that listeners are given. */
function recording(keys: string[]): Sockets {
  return {
    open: () => {
      throw new Error('not asked for');
    },
    accepted: () => undefined,
    listen: async ({ address, port }) => ({
      address,
      port,
      setPassword: (prefix) => keys.push(`${address} ${prefix}`),
      close: async () => undefined,
    }),
  };
}

describe('passwords of neighbors of both families', () => {
  it('reach the listeners that can see them, whatever came first', async () => {
    const keys: string[] = [];
    const speaker = new BgpSpeaker({
      asn: asn(64512),
      routerId: parseRouterId('10.0.0.1'),
      sockets: recording(keys),
    });
    const range = { remoteAsn: [asn(64512)], maxSessions: 1, socket: { password: 'secret' } };
    await speaker.listen({ address: '0.0.0.0' });
    speaker.addRange({ ...range, name: 'four', range: '10.0.0.0/24' });
    speaker.addRange({ ...range, name: 'six', range: 'fd00::/64' });
    await speaker.listen({ address: '::' });
    await speaker.close();
    expect(keys).toEqual(['0.0.0.0 10.0.0.0/24', ':: 10.0.0.0/24', ':: fd00::/64']);
  });

  it('stay for a link-local address that is a neighbor on another link too: the kernel has one key for both', async () => {
    const keys: string[] = [];
    const sockets = recording(keys);
    const speaker = new BgpSpeaker({ asn: asn(64512), routerId: parseRouterId('10.0.0.1'), sockets });
    await speaker.listen({ address: '::' });
    const common = { remoteAsn: [asn(64512)], passive: true, socket: { password: 'secret' } };
    const east = speaker.addPeer({ ...common, name: 'east', address: 'fe80::1%eth0' });
    const west = speaker.addPeer({ ...common, name: 'west', address: 'fe80::1%eth1' });
    keys.length = 0;
    await speaker.removePeer(east);
    expect(keys).toEqual([]);
    await speaker.removePeer(west);
    expect(keys).toEqual([':: fe80::1/128']);
    await speaker.close();
  });

  it('are replaced by name, and taken back', async () => {
    const keys: string[] = [];
    const sockets = recording(keys);
    const speaker = new BgpSpeaker({ asn: asn(64512), routerId: parseRouterId('10.0.0.1'), sockets });
    await speaker.listen({ address: '0.0.0.0' });
    const remoteAsn = [asn(64512)];
    speaker.addRange({ name: 'range', range: '10.0.0.0/24', remoteAsn, maxSessions: 1 });
    speaker.addPeer({ name: 'peer', address: '10.1.0.2', remoteAsn, passive: true });
    speaker.setAcceptPassword('range', 'new');
    speaker.setAcceptPassword('peer', 'other');
    speaker.setAcceptPassword('peer', undefined);
    expect(keys).toEqual(['0.0.0.0 10.0.0.0/24', '0.0.0.0 10.1.0.2/32', '0.0.0.0 10.1.0.2/32']);
    expect(() => speaker.setAcceptPassword('nobody', 'x')).toThrow('no peer or range nobody');
    await speaker.close();
  });
});
