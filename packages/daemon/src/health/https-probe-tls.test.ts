import { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { httpsTarget, type ProbeTarget } from '../testing/probe-target.ts';
import { type KeyPair, makeAuthority, sign } from '../testing/test-certificates.ts';
import { publicKeyHashes } from '../tls/public-key-hashes.ts';
import { HttpsProbe, type HttpsProbeOptions } from './https-probe.ts';

const authority = makeAuthority('kubernetes');
const other = makeAuthority('kubernetes');
const good = sign(authority, { altNames: 'DNS:kubernetes,DNS:m1,IP:10.0.0.11,IP:2001:db8::1' });

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function serving(pair: KeyPair): Promise<ProbeTarget> {
  const target = await httpsTarget(pair, (_, response) => response.end('ok'));
  open.push(target);
  return target;
}

function probeOf(target: ProbeTarget, options: Partial<HttpsProbeOptions> = {}): HttpsProbe {
  const probe = new HttpsProbe({
    address: '127.0.0.1',
    port: target.port,
    serverName: 'kubernetes',
    path: '/readyz',
    ca: () => authority.cert,
    timeoutMs: 5000,
    keepAlive: true,
    ...options,
  });
  open.push(probe);
  return probe;
}

describe('the certificate', () => {
  it('is not asked for in the way that keeps memory at each handshake', async () => {
    const asked = vi.spyOn(TLSSocket.prototype, 'getPeerX509Certificate');
    open.push({ close: () => asked.mockRestore() });
    expect(await probeOf(await serving(good)).probe()).toMatchObject({ kind: 'ok', isVerified: true });
    expect(asked).not.toHaveBeenCalled();
  });

  it('of the CA that names the server is verified and shown', async () => {
    const result = await probeOf(await serving(good)).probe();
    expect(result).toMatchObject({
      kind: 'ok',
      isVerified: true,
      certificate: {
        subjectAltNames: ['kubernetes', 'm1', '10.0.0.11', '2001:db8::1'],
        issuerKeyHash: publicKeyHashes(authority.cert)[0],
      },
    });
    expect(Date.parse(result.certificate?.validTo ?? '')).toBeGreaterThan(Date.now());
    expect(Date.parse(result.certificate?.validFrom ?? '')).toBeLessThanOrEqual(Date.now());
  });

  it.each(['10.0.0.11', '2001:db8::1'])('may name the server by its address %s', async (serverName) => {
    expect(await probeOf(await serving(good), { serverName }).probe()).toMatchObject({
      kind: 'ok',
      isVerified: true,
    });
  });

  it.each(['localhost', 'kubernetes.default', '10.0.0.12'])(
    'without the name %s is a TLS fault',
    async (serverName) => {
      expect(await probeOf(await serving(good), { serverName }).probe()).toMatchObject({
        kind: 'tls',
        code: 'ERR_TLS_CERT_ALTNAME_INVALID',
        detail: `the certificate does not name ${serverName}`,
        isVerified: false,
        certificate: { subjectAltNames: ['kubernetes', 'm1', '10.0.0.11', '2001:db8::1'] },
      });
    },
  );

  it('without the name only warns where the name is optional, and is still held to its CA', async () => {
    const target = await serving(good);
    const options = { serverName: 'localhost', isNameOptional: () => true };
    expect(await probeOf(target, options).probe()).toMatchObject({
      kind: 'ok',
      isVerified: true,
      warnings: ['the certificate does not name localhost'],
    });
    expect(await probeOf(target, { ...options, ca: () => other.cert }).probe()).toMatchObject({
      kind: 'tls',
      isVerified: false,
    });
  });

  it('of another CA with the same name is a TLS fault', async () => {
    const result = await probeOf(await serving(good), { ca: () => other.cert }).probe();
    expect(result).toMatchObject({ kind: 'tls', isVerified: false });
    expect(result.detail).toMatch(/not of the expected CA/);
  });

  it('of one CA of a bundle passes', async () => {
    expect(
      await probeOf(await serving(good), { ca: () => `${other.cert}${authority.cert}` }).probe(),
    ).toMatchObject({ isVerified: true });
  });

  it('is not looked at without a CA, which the result says', async () => {
    const result = await probeOf(await serving(good), {
      ca: () => undefined,
      serverName: 'whatever',
    }).probe();
    expect(result).toMatchObject({
      kind: 'ok',
      isVerified: false,
      certificate: { subjectAltNames: ['kubernetes', 'm1', '10.0.0.11', '2001:db8::1'] },
    });
  });

  it('that has expired only warns: the clocks of machines that boot are wrong', async () => {
    const expired = sign(authority, { altNames: 'DNS:kubernetes', days: -1 });
    expect(await probeOf(await serving(expired)).probe()).toMatchObject({
      kind: 'ok',
      isVerified: true,
      warnings: ['the certificate has expired, or the clock is wrong'],
    });
  });

  it('that has expired is still held to its CA and its name', async () => {
    const expired = sign(authority, { altNames: 'DNS:kubernetes', days: -1 });
    const target = await serving(expired);
    expect(await probeOf(target, { ca: () => other.cert }).probe()).toMatchObject({
      kind: 'tls',
      isVerified: false,
    });
    expect(await probeOf(target, { serverName: 'other' }).probe()).toMatchObject({
      kind: 'tls',
      isVerified: false,
    });
  });

  it('may be signed by an intermediate that the server sends, expired or not', async () => {
    const intermediate = sign(authority, { altNames: 'DNS:intermediate', isAuthority: true });
    for (const days of [10, -1]) {
      const leaf = sign(intermediate, { altNames: 'DNS:kubernetes', days });
      const target = await serving({ key: leaf.key, cert: leaf.cert + intermediate.cert });
      expect(await probeOf(target).probe()).toMatchObject({ kind: 'ok', isVerified: true });
      expect(await probeOf(target, { ca: () => other.cert }).probe()).toMatchObject({ kind: 'tls' });
    }
  });

  it('signed by a certificate that may not sign is a TLS fault, expired or not', async () => {
    for (const days of [10, -1]) {
      const leaf = sign(good, { altNames: 'DNS:kubernetes', days });
      const target = await serving({ key: leaf.key, cert: leaf.cert + good.cert });
      expect(await probeOf(target).probe()).toMatchObject({ kind: 'tls', isVerified: false });
    }
  });
});

describe('the client certificate', () => {
  it('is shown to a server that asks, a new one from the next probe on, and none without one', async () => {
    const names: string[] = [];
    const target = await httpsTarget(
      { ...good, requestCert: true, rejectUnauthorized: false, ca: authority.cert },
      ({ socket }, response) => {
        const { subjectaltname } = socket instanceof TLSSocket ? socket.getPeerCertificate() : {};
        names.push(subjectaltname ?? 'nobody');
        response.end();
      },
    );
    open.push(target);
    let client: KeyPair | undefined;
    const probe = probeOf(target, { clientCertificate: () => client });
    await probe.probe();
    client = sign(authority, { altNames: 'DNS:prober' });
    await probe.probe();
    await probe.probe();
    client = sign(authority, { altNames: 'DNS:renewed' });
    await probe.probe();
    expect(names).toEqual(['nobody', 'DNS:prober', 'DNS:prober', 'DNS:renewed']);
    expect(target.connections()).toBe(3);
  });
});

describe('the CA file', () => {
  it('that appears or changes is used from the next probe on, on a new connection', async () => {
    const target = await serving(good);
    let ca: string | undefined;
    const probe = probeOf(target, { ca: () => ca });
    expect((await probe.probe()).isVerified).toBe(false);
    ca = authority.cert;
    expect((await probe.probe()).isVerified).toBe(true);
    ca = other.cert;
    expect((await probe.probe()).kind).toBe('tls');
    ca = authority.cert;
    expect((await probe.probe()).kind).toBe('ok');
    expect(target.connections()).toBe(4);
  });

  it.each(['', 'nonsense', authority.cert.slice(0, 200)])(
    'without a usable certificate is a TLS fault',
    async (ca) => {
      const result = await probeOf(await serving(good), { ca: () => ca }).probe();
      expect(result.kind).toBe('tls');
      expect(result.detail).toMatch(/certificate|empty/);
    },
  );

  it('that cannot be read is an error with the reason', async () => {
    const ca = (): never => {
      throw Object.assign(new Error('EACCES: permission denied, open ca.crt'), { code: 'EACCES' });
    };
    expect((await probeOf(await serving(good), { ca }).probe()).detail).toMatch(/permission denied/);
  });
});
