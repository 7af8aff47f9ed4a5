import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { ipv4Unicast, ipv6Unicast } from '../types/family.ts';
import { parseRouterId } from '../types/router-id.ts';
import type { Capability } from '../wire/capability/capability.ts';
import type { OpenMessage } from '../wire/message.ts';
import { localAsn, negotiatedWith, ourOpen, remoteAsn, remoteOpen } from './kit/samples.ts';
import { type ExpectedPeer, negotiate } from './negotiate.ts';

const expected: ExpectedPeer = { localAsn, remoteAsn: [remoteAsn] };

function refusal(
  remote: OpenMessage,
  { ours = ourOpen(), peer = expected }: { ours?: OpenMessage; peer?: ExpectedPeer } = {},
): unknown {
  try {
    negotiate(ours, remote, peer);
  } catch (error) {
    return error;
  }
  return 'accepted';
}

function withCapabilities(
  capabilities: readonly Capability[],
  fields: Partial<OpenMessage> = {},
): OpenMessage {
  return { ...remoteOpen(), capabilities, ...fields };
}

describe('AS numbers', () => {
  it('accepts the configured AS', () => {
    expect(negotiatedWith().context).toMatchObject({ peerAsn: 65002, isInternal: false, asn4: true });
  });

  it('refuses another AS with 2/2 (RFC 4271 section 6.2)', () => {
    expect(refusal(remoteOpen({ asn: asn(65003) }))).toMatchObject({ code: 2, subcode: 2 });
  });

  it('accepts any AS but ours when the peer is to be external', () => {
    const external: ExpectedPeer = { localAsn, remoteAsn: 'external' };
    expect(refusal(remoteOpen({ asn: asn(4200000000) }), { peer: external })).toBe('accepted');
    expect(refusal(remoteOpen({ asn: localAsn }), { peer: external })).toMatchObject({ code: 2, subcode: 2 });
  });

  it('takes the AS of the capability when My AS is AS_TRANS (RFC 6793 section 4.2)', () => {
    expect(refusal({ ...remoteOpen(), myAs: 23456 })).toBe('accepted');
  });

  it('refuses a My AS that contradicts the capability with 2/2', () => {
    expect(refusal({ ...remoteOpen(), myAs: 65009 })).toMatchObject({ code: 2, subcode: 2 });
  });

  it('refuses AS_TRANS without the capability unless it is configured', () => {
    const old = withCapabilities([], { myAs: 23456 });
    expect(refusal(old)).toMatchObject({ code: 2, subcode: 2 });
    expect(refusal(old, { peer: { localAsn, remoteAsn: 'external' } })).toMatchObject({
      code: 2,
      subcode: 2,
    });
    expect(refusal(old, { peer: { localAsn, remoteAsn: [asn(23456)] } })).toBe('accepted');
  });

  it('refuses AS 0 with 2/2 (RFC 7607 section 2)', () => {
    expect(refusal(withCapabilities([], { myAs: 0 }))).toMatchObject({ code: 2, subcode: 2 });
  });
});

describe('BGP Identifier (RFC 6286 section 2.2)', () => {
  it('refuses our own inside the AS with 2/3', () => {
    const twin = remoteOpen({ asn: localAsn, routerId: parseRouterId('10.0.0.1') });
    expect(refusal(twin, { peer: { localAsn, remoteAsn: [localAsn] } })).toMatchObject({
      code: 2,
      subcode: 3,
    });
  });

  it('accepts our own from another AS', () => {
    expect(refusal(remoteOpen({ routerId: parseRouterId('10.0.0.1') }))).toBe('accepted');
  });
});

describe('hold time (RFC 4271 section 4.2)', () => {
  it.each([
    [90, 30, 30, 10],
    [90, 65535, 90, 30],
    [90, 3, 3, 1],
    [90, 0, 0, 0],
    [0, 90, 0, 0],
  ])('of %i here and %i there is %i, with KEEPALIVEs every %i s', (ours, theirs, holdTime, keepaliveTime) => {
    expect(negotiatedWith({ holdTime: ours }, { holdTime: theirs })).toMatchObject({
      holdTime,
      keepaliveTime,
    });
  });

  it.each([1, 2])('of %i is refused with 2/6', (holdTime) => {
    expect(refusal(remoteOpen({ holdTime }))).toMatchObject({ code: 2, subcode: 6 });
  });
});

describe('address families (RFC 4760 section 8)', () => {
  const both = { families: [ipv4Unicast, ipv6Unicast] };

  it('are those that both offer', () => {
    expect(negotiatedWith(both, { families: [ipv6Unicast] }).context.families).toEqual([ipv6Unicast]);
  });

  it('are IPv4 unicast with a peer that sends no multiprotocol capability', () => {
    const { context } = negotiate(
      ourOpen(both),
      withCapabilities([{ name: 'four-octet-as', asn: remoteAsn }]),
      expected,
    );
    expect(context.families).toEqual([ipv4Unicast]);
  });

  it('do not gain IPv4 by default when the peer offers others', () => {
    const onlyVpn = withCapabilities([{ name: 'multiprotocol', afi: 1, safi: 128 }]);
    expect(refusal(onlyVpn)).toMatchObject({ code: 2, subcode: 7, data: Uint8Array.of(1, 4, 0, 1, 0, 1) });
  });
});

describe('extended messages (RFC 8654 section 4)', () => {
  it.each([
    [true, true, 65535, 65535],
    [true, false, 65535, 4096],
    [false, true, 4096, 65535],
    [false, false, 4096, 4096],
  ])('offered here %s and there %s: we take %i and send %i octets', (ours, theirs, receive, send) => {
    const { context } = negotiatedWith({ extendedMessage: ours }, { extendedMessage: theirs });
    expect(context).toMatchObject({ maxReceiveLength: receive, maxSendLength: send });
  });
});

describe('ADD-PATH (RFC 7911 section 4)', () => {
  it('goes each way on its own', () => {
    const { context } = negotiatedWith(
      { addPathReceive: [ipv4Unicast], addPathSend: [ipv4Unicast] },
      { addPathSend: [ipv4Unicast] },
    );
    expect(context).toMatchObject({ addPathReceive: [ipv4Unicast], addPathSend: [] });
  });

  it('needs the sender on one side and the receiver on the other', () => {
    const { context } = negotiatedWith({ addPathSend: [ipv4Unicast] }, { addPathSend: [ipv4Unicast] });
    expect(context).toMatchObject({ addPathReceive: [], addPathSend: [] });
  });
});

describe('authentication of BFD', () => {
  const [ours, theirs] = [new Uint8Array(16).fill(1), new Uint8Array(16).fill(2)];

  it('is that of both nonces when both offer it, and absent otherwise', () => {
    expect(
      negotiatedWith({ bfdAuthentication: ours }, { bfdAuthentication: theirs }).bfdAuthentication,
    ).toEqual({ local: ours, remote: theirs });
    expect(negotiatedWith({}, { bfdAuthentication: theirs }).bfdAuthentication).toBeUndefined();
    expect(negotiatedWith({ bfdAuthentication: ours }, {}).bfdAuthentication).toBeUndefined();
  });
});

describe('graceful restart (RFC 4724 section 3)', () => {
  const gracefulRestart = { restarting: true, restartTime: 60, families: [ipv4Unicast] };

  it("is the peer's, when both offer it", () => {
    expect(negotiatedWith({ gracefulRestart }, { gracefulRestart }).gracefulRestart).toEqual({
      restarting: true,
      notification: false,
      restartTime: 60,
      families: [{ family: ipv4Unicast, forwardingPreserved: true }],
    });
  });

  it('is absent when one side does not offer it', () => {
    expect(negotiatedWith({}, { gracefulRestart }).gracefulRestart).toBeUndefined();
    expect(negotiatedWith({ gracefulRestart }, {}).gracefulRestart).toBeUndefined();
  });

  it('is the last one of a peer that sends the capability more than once', () => {
    const { capabilities } = remoteOpen({ gracefulRestart });
    const last: Capability = {
      name: 'graceful-restart',
      restarting: false,
      notification: false,
      restartTime: 7,
      families: [],
    };
    const remote = withCapabilities([...capabilities, last]);
    expect(negotiate(ourOpen({ gracefulRestart }), remote, expected).gracefulRestart).toEqual({
      restarting: false,
      notification: false,
      restartTime: 7,
      families: [],
    });
  });
});
