/** A TCP server for tests: tells each client at which address and port it arrived. Argument: the port. */
import { createServer } from 'node:net';

createServer((socket) => {
  socket.on('error', () => undefined);
  socket.end(`${socket.localAddress?.replace('::ffff:', '')}:${socket.localPort}\n`);
}).listen(Number(process.argv[2]), '::', () => {
  process.stdout.write(`${JSON.stringify({ listening: true })}\n`);
});
