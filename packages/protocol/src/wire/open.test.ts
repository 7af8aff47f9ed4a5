import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { parseRouterId } from '../types/router-id.ts';
import type { Capability } from './capability/capability.ts';
import { openContext } from './context.ts';
import { EncodeError } from './errors.ts';
import type { OpenMessage } from './message.ts';
import { decodeMessage, encodeMessage } from './message-codec.ts';

const context = openContext(asn(64512));

/** version 4, AS 65001, hold time 90, identifier 10.0.0.1, unless said otherwise. */
const fixed = { version: '04', as: 'fde9', hold: '005a', id: '0a000001' };

function decode(parameters: string, changes: Partial<typeof fixed> = {}): OpenMessage {
  const { version, as, hold, id } = { ...fixed, ...changes };
  const body = Buffer.from(version + as + hold + id + parameters.replaceAll(' ', ''), 'hex');
  const bytes = Buffer.concat([Buffer.alloc(16, 0xff), Buffer.from([0, 19 + body.length, 1]), body]);
  const message = decodeMessage({ type: 1, bytes }, context);
  if (message.type !== 'OPEN') throw new Error(`${message.type} came out`);
  return message;
}

const octets = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));

describe('OPEN, fixed fields (RFC 4271 section 6.2)', () => {
  it('reads one without optional parameters', () => {
    expect(decode('00')).toEqual({
      type: 'OPEN',
      version: 4,
      myAs: 65001,
      holdTime: 90,
      bgpIdentifier: parseRouterId('10.0.0.1'),
      capabilities: [],
    });
  });

  it.each(['03', '05', '00', 'ff'])(
    'answers version %s with 2/1 and the version that it supports',
    (version) => {
      expect(() => decode('00', { version })).toThrow(
        expect.objectContaining({ code: 2, subcode: 1, data: octets('0004') }),
      );
    },
  );

  it('answers AS 0 with 2/2 (RFC 7607 section 2)', () => {
    expect(() => decode('00', { as: '0000' })).toThrow(expect.objectContaining({ code: 2, subcode: 2 }));
    expect(() => decode('08 02 06 41 04 00000000')).toThrow(expect.objectContaining({ code: 2, subcode: 2 }));
  });

  it('answers the identifier 0.0.0.0 with 2/3, and takes any other (RFC 6286 section 2.1)', () => {
    expect(() => decode('00', { id: '00000000' })).toThrow(expect.objectContaining({ code: 2, subcode: 3 }));
    expect(decode('00', { id: 'e0000001' }).bgpIdentifier).toBe(0xe0000001);
  });

  it.each(['0001', '0002'])('answers hold time %s with 2/6', (hold) => {
    expect(() => decode('00', { hold })).toThrow(expect.objectContaining({ code: 2, subcode: 6 }));
  });

  it.each([
    ['0000', 0],
    ['0003', 3],
    ['ffff', 65535],
  ])('takes hold time %s', (hold, seconds) => {
    expect(decode('00', { hold }).holdTime).toBe(seconds);
  });
});

describe('OPEN, optional parameters', () => {
  it('answers a parameter that is no capability with 2/4', () => {
    expect(() => decode('04 07 02 abcd')).toThrow(expect.objectContaining({ code: 2, subcode: 4 }));
    expect(() => decode('03 01 01 00')).toThrow(expect.objectContaining({ code: 2, subcode: 4 }));
  });

  it.each([
    ['the field is longer than the message', '05 02 02 0200'],
    ['octets follow the field', '00 ff'],
    ['octets follow the field of one parameter', '04 02 02 0200 00'],
    ['a parameter is longer than the field', '04 02 03 0200'],
    ['the field ends inside a parameter header', '05 02 02 0200 02'],
    ['a capability is longer than its parameter', '04 02 02 0201'],
    ['a parameter ends inside a capability header', '03 02 01 02'],
    ['the extended length is missing', '01 ff'],
    ['the extended length is longer than the message', 'ff ff 0008 02 0002 0200'],
    ['octets follow the extended field', 'ff ff 0005 02 0002 0200 00'],
    ['an extended parameter is longer than the field', 'ff ff 0005 02 0003 0200'],
    ['the extended field ends inside a parameter header', 'ff ff 0002 02 00'],
  ])('answers with 2/0 when %s', (_, parameters) => {
    expect(() => decode(parameters)).toThrow(expect.objectContaining({ code: 2, subcode: 0 }));
  });

  const refresh: Capability = { name: 'route-refresh' };
  const multi: Capability = { name: 'multiprotocol', afi: 2, safi: 1 };
  it.each([
    ['all in one parameter', '0a 02 08 0200 0104 0002 0001'],
    ['one parameter each', '0c 02 02 0200 02 06 0104 0002 0001'],
    ['the extended form', 'ff ff 000b 02 0008 0200 0104 0002 0001'],
    [
      'the extended form with another short length (RFC 9072 section 2)',
      '01 ff 000b 02 0008 0200 0104 0002 0001',
    ],
    ['an empty parameter between', '0e 02 02 0200 02 00 02 06 0104 0002 0001'],
  ])('reads the same capabilities from %s', (_, parameters) => {
    expect(decode(parameters).capabilities).toEqual([refresh, multi]);
  });

  it('reads an extended form without parameters', () => {
    expect(decode('ff ff 0000').capabilities).toEqual([]);
  });

  it('answers type 255 in any other place with 2/4 (RFC 9072 section 3)', () => {
    expect(() => decode('06 02 02 0200 ff 00')).toThrow(expect.objectContaining({ code: 2, subcode: 4 }));
  });
});

describe('OPEN, sent', () => {
  const open: OpenMessage = {
    type: 'OPEN',
    version: 4,
    myAs: 65001,
    holdTime: 90,
    bgpIdentifier: parseRouterId('10.0.0.1'),
    capabilities: [],
  };
  const filler = (length: number): Capability => ({
    name: 'unknown',
    code: 200,
    value: new Uint8Array(length),
  });

  it('puts all capabilities into one parameter', () => {
    const bytes = encodeMessage(
      { ...open, capabilities: [{ name: 'multiprotocol', afi: 1, safi: 1 }, { name: 'route-refresh' }] },
      context,
    );
    expect(Buffer.from(bytes.subarray(19)).toString('hex')).toBe(
      '04fde9005a0a0000010a020801040001000102' + '00',
    );
  });

  it('turns to the extended form only past 255 octets of parameters', () => {
    const short = encodeMessage({ ...open, capabilities: [filler(251)] }, context);
    expect([...short.subarray(28, 31)]).toEqual([255, 2, 253]);
    const long = encodeMessage({ ...open, capabilities: [filler(250), filler(0)] }, context);
    expect([...long.subarray(28, 35)]).toEqual([255, 255, 1, 1, 2, 0, 254]);
    expect(decodeMessage({ type: 1, bytes: long }, context)).toMatchObject({
      capabilities: [filler(250), filler(0)],
    });
  });

  it.each([
    ['a hold time of 2 s', { ...open, holdTime: 2 }],
    ['a capability of 256 octets', { ...open, capabilities: [filler(256)] }],
    ['more than 4096 octets', { ...open, capabilities: Array.from({ length: 17 }, () => filler(250)) }],
    ['an AS that needs four octets', { ...open, myAs: 65536 }],
  ])('refuses to send %s', (_, message) => {
    expect(() => encodeMessage(message, { ...context, maxSendLength: 65535 })).toThrow(EncodeError);
  });
});
