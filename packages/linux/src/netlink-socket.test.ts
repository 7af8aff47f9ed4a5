import { describe, expect, it } from 'vitest';
import { NetlinkError, NetlinkFormatError } from './netlink-error.ts';
import { throwIfRefused } from './netlink-socket.ts';

const error = 2;
const done = 3;
const capped = 0x100;
const withAttributes = 0x200;

function refusal(type: number, flags: number, ...payload: readonly string[]): () => void {
  const bytes = Uint8Array.from(Buffer.from(payload.join('').replaceAll(' ', ''), 'hex'));
  return () => throwIfRefused('set it', { type, flags, sequence: 1, portId: 0, payload: bytes });
}

const einval = 'eaffffff';
const requestHeader = '1c000000 1800 0505 01000000 00000000';
const text = '0b00 0100 4e6f2077617900 00';
const offset = '0800 0200 10000000';

describe('acknowledgements', () => {
  it('are good with the number 0', () => {
    expect(refusal(error, capped, '00000000', requestHeader)).not.toThrow();
    expect(refusal(done, 0, '00000000')).not.toThrow();
    expect(refusal(done, 0)).not.toThrow();
  });

  it("carry the kernel's text behind the header of the request", () => {
    expect(refusal(error, capped | withAttributes, einval, requestHeader, offset, text)).toThrow(
      new NetlinkError('set it', 22, 'No way'),
    );
  });

  it("carry the kernel's text behind the whole request where it is repeated", () => {
    const body = 'aaaaaaaa bbbbbbbb cccccccc';
    expect(refusal(error, withAttributes, einval, requestHeader, body, text)).toThrow(
      'set it: EINVAL: No way',
    );
  });

  it('may end a dump with an error and a text', () => {
    expect(refusal(done, withAttributes, einval, text)).toThrow('set it: EINVAL: No way');
  });

  it("have the C library's words where the kernel has none", () => {
    expect(refusal(error, capped, 'efffffff', requestHeader)).toThrow(
      /^set it: EEXIST: file already exists$/,
    );
  });

  it('name numbers that only the kernel knows', () => {
    expect(refusal(error, capped, 'f4fdffff', requestHeader)).toThrow('set it: ENOTSUPP');
  });

  it('are read within their bounds', () => {
    expect(refusal(error, 0, 'eaff')).toThrow(NetlinkFormatError);
    expect(refusal(error, capped | withAttributes, einval, requestHeader, 'ff00 0100')).toThrow(
      NetlinkFormatError,
    );
    expect(refusal(error, withAttributes, einval, 'f0ffffff 1800 0505 01000000 00000000')).toThrow(
      NetlinkError,
    );
    expect(refusal(error, withAttributes, einval, 'aaaa')).toThrow(NetlinkError);
  });
});
