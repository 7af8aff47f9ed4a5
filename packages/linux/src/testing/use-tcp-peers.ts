/** Two network namespaces on one cable, with a TCP peer in each. */
import { afterAll, beforeAll } from 'vitest';
import type { NamespaceProcess } from '../../../../test/kit/namespace-process.ts';
import { cable, NetworkNamespace } from '../../../../test/kit/network-namespace.ts';
import type { TcpPeer } from './tcp-peer.ts';

/** Where the server is. */
export const serverAddresses = { 4: '10.9.0.1', 6: 'fd00:9::1' } as const;
/** Where the client is; it also has 10.9.0.3. */
export const clientAddresses = { 4: '10.9.0.2', 6: 'fd00:9::2' } as const;

/** Filled before the first test runs. */
export interface TcpPeers {
  readonly server: NamespaceProcess<TcpPeer>;
  readonly client: NamespaceProcess<TcpPeer>;
  readonly serverNamespace: NetworkNamespace;
  readonly clientNamespace: NetworkNamespace;
}

/** Makes the two peers before the tests and removes them after. */
export function useTcpPeers(): { readonly current: TcpPeers } {
  const namespaces: NetworkNamespace[] = [];
  let peers: TcpPeers | undefined;

  beforeAll(async () => {
    const serverNamespace = NetworkNamespace.create('server');
    namespaces.push(serverNamespace);
    const clientNamespace = NetworkNamespace.create('client');
    namespaces.push(clientNamespace);
    cable(
      { namespace: serverNamespace, device: 'v0', addresses: ['10.9.0.1/24', 'fd00:9::1/64'] },
      { namespace: clientNamespace, device: 'v0', addresses: ['10.9.0.2/24', 'fd00:9::2/64', '10.9.0.3/24'] },
    );
    const module = new URL('./tcp-peer.ts', import.meta.url);
    const [server, client] = await Promise.all([
      serverNamespace.start<TcpPeer>(module),
      clientNamespace.start<TcpPeer>(module),
    ]);
    peers = { server, client, serverNamespace, clientNamespace };
  });

  afterAll(async () => {
    await Promise.all(namespaces.map((namespace) => namespace.remove()));
  });

  return {
    get current() {
      if (peers === undefined) throw new Error('used outside a test');
      return peers;
    },
  };
}
