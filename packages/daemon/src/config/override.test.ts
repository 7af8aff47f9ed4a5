import { describe, expect, it } from 'vitest';
import { faultsOf, HEAD, loadSample } from '../testing/sample-schema.ts';

const FILE = `${HEAD}asn: 64512\nneighbors: [{ name: a, asn: 1 }]\n`;

describe('flags and variables', () => {
  it('beat the file, and flags beat variables', () => {
    const env = { BGP_LB_ASN: '2', BGP_LB_ROLE: 'join', BGP_LB_HEALTH_CHECK_SERVER_NAME: 'other' };
    const { config } = loadSample(FILE, { env, argv: { asn: '3' } });
    expect([config.asn, config.role, config.healthCheck.serverName]).toEqual([3, 'join', 'other']);
  });

  it('may be nested, as a parser that splits names at dots leaves them', () => {
    expect(loadSample(FILE, { argv: { healthCheck: { rise: 7 } } }).config.healthCheck.rise).toBe(7);
  });

  it('are read as the type that the schema takes', () => {
    const env = { BGP_LB_ROUTE_TO_VIP: 'true', BGP_LB_HEALTH_CHECK_SERVER_NAME: '123', BGP_LB_ASN: '1.10' };
    const { config } = loadSample(FILE, { env });
    expect(config).toMatchObject({ routeToVip: true, asn: 65546, healthCheck: { serverName: '123' } });
  });

  it('change one element of a list and leave the rest', () => {
    const { config } = loadSample(FILE, { argv: { 'neighbors.0.holdTime': '30s' } });
    expect(config.neighbors).toEqual([{ name: 'a', asn: 1, holdTime: 30_000 }]);
  });

  it('add elements at the end of a list, in numeric order', () => {
    const argv: Record<string, string> = {};
    for (let index = 11; index >= 1; index--) {
      argv[`neighbors.${index}.name`] = `n${index}`;
      argv[`neighbors.${index}.asn`] = String(index);
    }
    const { config } = loadSample(FILE, { argv });
    expect(config.neighbors.map((one) => one.asn)).toEqual([1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it('give a whole list as YAML', () => {
    const { config } = loadSample(FILE, { env: { BGP_LB_VIPS: '[{ address: 10.9.9.9 }]' } });
    expect(config.vips).toEqual([{ address: '10.9.9.9', port: 6443 }]);
  });

  it.each([
    [
      'a bad value of a flag',
      { argv: { 'healthCheck.rise': '0' } },
      '--healthCheck.rise: healthCheck.rise: is too small, got 0; allowed: a whole number from 1 to 10',
    ],
    [
      'a bad value of a variable',
      { env: { BGP_LB_ROLE: 'x' } },
      'BGP_LB_ROLE: role: is not one of the allowed values, got "x"; allowed: init or join',
    ],
    [
      'an unknown flag',
      { argv: { 'healthCheck.risse': '1' } },
      '--healthCheck.risse: is not a known flag (--healthCheck.rise?)',
    ],
    [
      'a flag of an unknown element',
      { argv: { 'vips.first.port': '1' } },
      '--vips.first.port: is not a known flag',
    ],
    ['a flag given twice', { argv: { asn: ['1', '2'] } }, '--asn: is given more than once, got ["1","2"]'],
    [
      'a gap in a list',
      { argv: { 'neighbors.3.name': 'x' } },
      '--neighbors.3.name: leaves a gap: the list has 1 elements before it',
    ],
    [
      'an unknown variable',
      { env: { BGP_LB_HEALTH_CHECK_RISSE: '1' } },
      'BGP_LB_HEALTH_CHECK_RISSE: is not a known variable (BGP_LB_HEALTH_CHECK_RISE?)',
    ],
    [
      'an unknown variable of a list',
      { env: { BGP_LB_NEIGHBORS_0_NAMES: '1' } },
      'BGP_LB_NEIGHBORS_0_NAMES: is not a known variable (BGP_LB_NEIGHBORS_0_NAME?)',
    ],
    [
      'a key missing in an element that a variable made',
      { env: { BGP_LB_NEIGHBORS_1_ASN: '1' } },
      'BGP_LB_NEIGHBORS_1_ASN: neighbors.1.name: is required; allowed: text',
    ],
  ])('name themselves for %s', (_, sources, expected) => {
    expect(faultsOf(() => loadSample(FILE, sources)).text).toBe(expected);
  });

  it('come after the faults of the file', () => {
    const load = (): unknown => loadSample(`${FILE}role: x\n`, { argv: { z: '1' }, env: { BGP_LB_Q: '1' } });
    expect(faultsOf(load).diagnostics.map((one) => one.origin.kind)).toEqual(['file', 'environment', 'flag']);
  });

  it('are not read from variables of other programs', () => {
    expect(loadSample(FILE, { env: { ASN: '9', BGPLB_ASN: '9', BGP_LB: '9' } }).config.asn).toBe(64512);
  });
});

describe('the service links of Kubernetes', () => {
  it('do not keep the daemon from starting when a Service is named like it', () => {
    const env = {
      BGP_LB_SERVICE_HOST: '10.96.0.20',
      BGP_LB_SERVICE_PORT: '9474',
      BGP_LB_SERVICE_PORT_METRICS: '9474',
      BGP_LB_PORT: 'tcp://10.96.0.20:9474',
      BGP_LB_PORT_9474_TCP: 'tcp://10.96.0.20:9474',
      BGP_LB_PORT_9474_TCP_PROTO: 'tcp',
      BGP_LB_PORT_9474_TCP_PORT: '9474',
      BGP_LB_PORT_9474_TCP_ADDR: '10.96.0.20',
      BGP_LB_ROUTER_PORT: 'tcp://10.96.0.21:1',
    };
    expect(loadSample(FILE, { env }).config.asn).toBe(64512);
  });
});
