import { ControlError, type ControlReply, ControlStream, runCommandLine } from '@bgp-lb/daemon';
import { asn, encodeMessage, keepalive, openContext, readMrt } from '@bgp-lb/protocol';
import { describe, expect, it } from 'vitest';
import { MessageRecorder } from './message-recorder.ts';
import { mrtCommand } from './mrt-command.ts';
import { mrtRoute } from './mrt-route.ts';

const context = openContext(asn(64512));
const notification = encodeMessage(
  { type: 'NOTIFICATION', code: 6, subcode: 2, data: new Uint8Array(0) },
  context,
);

function say(recorder: MessageRecorder, n: number, bytes = notification): void {
  const ends = { localAddress: '10.0.0.10:179', remoteAddress: `10.0.0.${n}:40000` };
  recorder.record({ name: `m${n}`, address: `10.0.0.${n}` }, { isSent: false, bytes, context, ...ends });
}

function ask(recorder: MessageRecorder, query: Record<string, string>): unknown {
  return mrtRoute(recorder).handle({ params: {}, query, body: undefined });
}

/** From whom the messages of a file are. */
function peers(file: Uint8Array): string[] {
  return [...readMrt(file)].map((record) =>
    record.kind === 'message' ? record.peerAddress.bytes.join('.') : '?',
  );
}

describe('GET /api/v1/mrt', () => {
  it('answers with what is kept, of all or of one by name or address', () => {
    let time = 0;
    const recorder = new MessageRecorder({ wallClock: () => ++time });
    for (const n of [11, 12, 11]) say(recorder, n);
    const answer = (query: Record<string, string>): string[] =>
      peers((ask(recorder, query) as ControlReply).body as Uint8Array);
    expect(answer({})).toEqual(['10.0.0.11', '10.0.0.12', '10.0.0.11']);
    expect(answer({ neighbor: 'm12' })).toEqual(['10.0.0.12']);
    expect(answer({ neighbor: '10.0.0.12' })).toEqual(['10.0.0.12']);
  });

  it('names those of whom there is something when there is nothing of one', () => {
    const recorder = new MessageRecorder({ wallClock: () => 0 });
    expect(() => ask(recorder, { neighbor: 'm1' })).toThrow('no message with m1 is kept; with: nobody');
    say(recorder, 11);
    expect(() => ask(recorder, { neighbor: 'm1' })).toThrow('with: m11');
    expect(() => ask(recorder, { follow: 'maybe' })).toThrow(ControlError);
  });

  it('goes on with what comes, KEEPALIVEs too, until the client leaves', () => {
    const recorder = new MessageRecorder({ wallClock: () => 0 });
    say(recorder, 11);
    const stream = ask(recorder, { follow: 'true', neighbor: 'm11' });
    expect(stream).toBeInstanceOf(ControlStream);
    const written: Uint8Array[] = [];
    const end = (stream as ControlStream).start((bytes) => written.push(bytes));
    say(recorder, 12);
    say(recorder, 11, encodeMessage(keepalive, context));
    end();
    say(recorder, 11);
    expect(written.map(peers)).toEqual([['10.0.0.11'], ['10.0.0.11']]);
  });
});

it('mrt writes no octets to a terminal', async () => {
  const said: string[] = [];
  const code = await runCommandLine({
    ...{ name: 'bgp-lb-router', version: '0', commands: [mrtCommand], configFile: '', socket: '/nowhere' },
    argv: ['mrt'],
    stdout: { isTTY: true, write: () => undefined },
    stderr: { write: (text: string) => said.push(text) },
  });
  expect({ code, said: said.join('') }).toMatchObject({
    code: 2,
    said: expect.stringContaining('mrt > FILE'),
  });
});
