/** TLS to the VIP as a Kubernetes client makes it: the CA is known, and the certificate must name the address. */
import { readFileSync } from 'node:fs';
import { connect, type TLSSocket } from 'node:tls';
import type { ClientTarget } from '../client-protocol.ts';

/** A TLS connection whose server is verified; errors come by its `error` event. */
export function connectVerified(target: ClientTarget): TLSSocket {
  // The CA is read each time: it comes into being while the lab runs.
  const ca = readFileSync(target.caFile, 'utf8');
  return connect({ host: target.host, port: target.port, ca });
}

/** The node name in a kubeadm serving certificate: the DNS name that is not one of the Service's. */
export function masterOf(socket: TLSSocket): string {
  const names = (socket.getPeerCertificate().subjectaltname ?? '')
    .split(', ')
    .filter((name) => name.startsWith('DNS:'))
    .map((name) => name.slice(4));
  return names.find((name) => !name.startsWith('kubernetes')) ?? 'unknown';
}
