/**
 * Shows the page of a router in a lab on the machine's own loopback: node page-relay.ts SOCKET
 *
 * Requests go to the router's Unix socket, which is in no network namespace, and GET alone does: that socket would take orders too.
 * Prints its address, and ends when the socket's folder is gone, with the lab.
 */
import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { dirname } from 'node:path';

/** How often it is looked whether the lab is still there, in milliseconds. */
const LOOK = 500;

const [socketPath = ''] = process.argv.slice(2);

function relay(incoming: IncomingMessage, response: ServerResponse): void {
  if (incoming.method !== 'GET') {
    response.writeHead(405, { Allow: 'GET' }).end();
    return;
  }
  const { accept = '*/*', host = '' } = incoming.headers;
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) {
    response.writeHead(403).end();
    return;
  }
  const outgoing = request({ socketPath, path: incoming.url, headers: { accept, host } }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  // While the router restarts there is no one behind the socket.
  outgoing.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
  response.on('close', () => outgoing.destroy());
  outgoing.end();
}

const server = createServer(relay);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) console.log(`http://127.0.0.1:${address.port}/`);
});
setInterval(() => {
  if (!existsSync(dirname(socketPath))) process.exit(0);
}, LOOK);
