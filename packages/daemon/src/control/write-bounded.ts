import type { ServerResponse } from 'node:http';

/**
 * Writes to an answer without an end.
 * @param limit octets that may wait for the client
 * @param onCut called when more wait, and the client has been cut off
 */
export function writeBounded(
  response: ServerResponse,
  chunk: string | Uint8Array,
  limit: number,
  onCut: () => void,
): void {
  if (response.destroyed || response.writableEnded) return;
  response.write(chunk);
  if (response.writableLength <= limit) return;
  response.destroy();
  onCut();
}
