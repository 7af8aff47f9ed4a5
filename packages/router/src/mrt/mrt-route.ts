import { ControlError, ControlReply, type ControlRoute, ControlStream } from '@bgp-lb/daemon';
import type { MessageRecorder, Recorded } from './message-recorder.ts';
import { MrtWriter } from './mrt-records.ts';

const CONTENT_TYPE = 'application/octet-stream';

/** `GET /api/v1/mrt`: `?neighbor=NAME` for one, `?follow` for what is on the wire from now on too. */
export function mrtRoute(recorder: MessageRecorder): ControlRoute {
  return {
    method: 'GET',
    path: '/api/v1/mrt',
    handle: ({ query: { neighbor, follow } }) => {
      if (follow !== undefined && follow !== '' && follow !== 'true') {
        throw new ControlError(400, `follow is ${follow}; allowed: true, or nothing`);
      }
      const isWanted = (recorded: Recorded): boolean =>
        neighbor === undefined || recorded.neighbor === neighbor || recorded.address === neighbor;
      const writer = new MrtWriter();
      const all = recorder.kept();
      const kept = all.filter(isWanted);
      if (kept.length === 0 && neighbor !== undefined && follow === undefined) {
        const known = [...new Set(all.map((recorded) => recorded.neighbor))].join(', ');
        throw new ControlError(
          404,
          `no message with ${neighbor} is kept; with: ${known === '' ? 'nobody' : known}`,
        );
      }
      for (const recorded of kept) {
        writer.learn(recorded);
      }
      const file = Buffer.concat(kept.flatMap((recorded) => writer.records(recorded)));
      if (follow === undefined) {
        return new ControlReply(CONTENT_TYPE, file);
      }
      return new ControlStream(CONTENT_TYPE, (write) => {
        write(file);
        return recorder.listen((recorded) => {
          if (isWanted(recorded)) {
            write(Buffer.concat(writer.records(recorded)));
          }
        });
      });
    },
  };
}
