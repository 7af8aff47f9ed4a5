import { describe, expect, it } from 'vitest';
import { faultsOf, HEAD, loadSample } from '../testing/sample-schema.ts';

/** The text of the faults of a document of which the first four lines are good. */
function textOf(body: string): string {
  return faultsOf(() => loadSample(`${HEAD}asn: 64512\n${body}\n`)).text;
}

/** The first line of each fault. */
function linesOf(body: string): string[] {
  return textOf(body)
    .split('\n')
    .filter((line) => line.startsWith('router.yaml'));
}

const AS = "1 to 4294967294 without 23456 and 65535, or asdot in quotes like '64512.1'";
const DURATION = "a number with a unit, like '300ms', '1s', '2m' or '1h'";

describe('a file without a configuration', () => {
  it.each(['', '\n\n', '# nothing yet\n', '---\n'])(
    'has one fault, which says what belongs there: %j',
    (text) => {
      const { text: said } = faultsOf(() => loadSample(text));
      const lines = said.split('\n').filter((line) => line.startsWith('router.yaml'));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(
        /has no configuration in it; allowed: keys, of which the first are apiVersion: \S+ and kind: \S+$/,
      );
    },
  );
});

describe('a fault of the configuration', () => {
  it('shows place, path, value, what is allowed, and the line with a caret', () => {
    expect(textOf('healthCheck: { rise: 0 }')).toBe(
      [
        'router.yaml:5:22: healthCheck.rise: is too small, got 0; allowed: a whole number from 1 to 10',
        '    5 | healthCheck: { rise: 0 }',
        '      |                      ^',
      ].join('\n'),
    );
  });

  it.each([
    [
      'routerId: 2001:db8::1',
      '5:11: routerId: is an IPv6 address, got "2001:db8::1"; allowed: an IPv4 address, like 10.0.0.1',
    ],
    ['role: boss', '5:7: role: is not one of the allowed values, got "boss"; allowed: init or join'],
    ['role:', '5:1: role: is not one of the allowed values, got null; allowed: init or join'],
    ['routeToVip: yes', '5:13: routeToVip: is text, got "yes"; allowed: true or false'],
    [
      'panicThreshold: 50',
      "5:17: panicThreshold: has no percent sign (50%?), got 50; allowed: a percentage, '0%' to '100%'",
    ],
    [
      'healthCheck: { interval: 1 }',
      `5:26: healthCheck.interval: has no unit (1s? 1ms?), got 1; allowed: ${DURATION}`,
    ],
    [
      'healthCheck: { serverName: "" }',
      '5:28: healthCheck.serverName: is too short, got ""; allowed: at least 1 characters',
    ],
    ['healthCheck: 5', '5:14: healthCheck: is a number, got 5; allowed: a mapping of keys'],
    ['neighbors: { a: 1 }', '5:12: neighbors: is a mapping of keys; allowed: a list'],
    ['neighbors: [{ asn: 1 }]', '5:13: neighbors.0.name: is required; allowed: text'],
    [
      'neighbors: [{ name: a, asn: [1, foo] }]',
      `5:33: neighbors.0.asn.1: is not an AS number, got "foo"; allowed: ${AS}`,
    ],
    [
      'neighbors: [{ name: a, asn: true }]',
      `5:29: neighbors.0.asn: is not one of the allowed values, got true; allowed: ${AS}, or a list of these, or external`,
    ],
    [
      'neighbors: [{ name: a, asn: 0 }]',
      `5:29: neighbors.0.asn: AS 0 is reserved (RFC 7607), got 0; allowed: ${AS}`,
    ],
    [
      'neighbors: [{ name: a, asn: 1, holdTime: 2s }]',
      `5:42: neighbors.0.holdTime: is too short, got "2s"; allowed: ${DURATION}, 3s to 65535s`,
    ],
    [
      'api: { socket: run/x }',
      '5:16: api.socket: is a relative path, got "run/x"; allowed: an absolute path, like /etc/bgp-lb/ca.crt',
    ],
  ])('%s', (body, expected) => {
    expect(linesOf(body)).toEqual([`router.yaml:${expected}`]);
  });

  it('points at the prefix that was probably meant', () => {
    expect(linesOf('neighbors: [{ name: a, asn: 1, range: 10.0.0.5/24 }]')[0]).toMatch(
      /has host bits set, got "10.0.0.5\/24"; allowed: 10.0.0.0\/24, or 10.0.0.5\/32 for the one address$/,
    );
  });

  it('comes with all others, in the order of the file', () => {
    const lines = linesOf('role: a\nhealthCheck:\n  rise: 99\n  intervall: 1s\nrouterId: b');
    expect(lines.map((line) => line.split(': ', 2).join(' '))).toEqual([
      'router.yaml:5:7 role',
      'router.yaml:7:9 healthCheck.rise',
      'router.yaml:8:3 healthCheck.intervall',
      'router.yaml:9:11 routerId',
    ]);
  });

  it('does not print control characters of the file', () => {
    const text = textOf('role: "a\\e[31mb"');
    expect(text).toContain('got "a\\u001b[31mb"');
    expect(text).not.toContain('\u001b');
  });

  it('in a long line shows a window around the caret', () => {
    const [, source, caret] = textOf(
      `role: init # ${'x'.repeat(10)}\nhealthCheck: { serverName: ${'n'.repeat(300)}, rise: 0 }`,
    ).split('\n');
    expect(source?.length).toBeLessThan(150);
    expect(source?.charAt(caret?.indexOf('^') ?? -1)).toBe('0');
  });

  it('of two keys together is found also when another key is unknown', () => {
    const { diagnostics } = faultsOf(() =>
      loadSample(`${HEAD.replace(']', ', { address: 10.0.0.101 }]')}asn: 1\nrouteToVip: true\nfoo: 1\n`),
    );
    expect(diagnostics.map((one) => one.message)).toEqual(['needs a single VIP', 'is not a known key']);
  });
});

describe('an unknown key', () => {
  it('is a fault with the nearest known key and the list of all', () => {
    expect(linesOf('healthCheck: { intervall: 1s }')).toEqual([
      'router.yaml:5:16: healthCheck.intervall: is not a known key (interval?); allowed: serverName, interval, rise',
    ]);
  });

  it('far from all others gets no suggestion', () => {
    expect(linesOf('healthCheck: { zebra: 1s }')[0]).toMatch(
      /zebra: is not a known key; allowed: serverName/,
    );
  });

  it('is found in lists', () => {
    expect(
      linesOf('neighbors:\n  - { name: a, asn: 1 }\n  - name: b\n    asn: 1\n    rang: 10.0.0.0/8'),
    ).toEqual([
      'router.yaml:9:5: neighbors.1.rang: is not a known key (range?); allowed: name, range, holdTime, asn',
    ]);
  });

  it.each(['__proto__', 'constructor', 'toString'])('named %s is one like any other', (name) => {
    expect(linesOf(`${name}: { a: 1 }`)[0]).toContain(`5:1: ${name}: is not a known key`);
  });
});

describe('text that is not one YAML document', () => {
  it.each([
    ['a key twice', 'role: init\nrole: join', '6:1: is not valid YAML: the key is there twice'],
    [
      'a second document',
      '---\nrole: join',
      '5:1: is not valid: one document is expected, a second begins here',
    ],
    ['an unclosed list', 'neighbors: [1', '6:1: is not valid YAML: flow sequence in block collection'],
    ['an unknown tag', 'role: !!js/function x', '5:7: is not valid YAML: unresolved tag'],
    [
      'a tab as indentation',
      'api:\n\tsocket: /x',
      '6:1: is not valid YAML: tabs are not allowed as indentation',
    ],
    ['an alias without anchor', 'role: *nowhere', '5:7: is not valid YAML: there is no anchor &nowhere'],
  ])('with %s is refused at its place', (_, body, expected) => {
    expect(linesOf(body)[0]).toContain(`router.yaml:${expected}`);
  });

  it('that is a list or a word is refused', () => {
    expect(faultsOf(() => loadSample('[1]')).text).toContain('router.yaml:1:1: is not a mapping of keys');
  });

  it('with aliases that multiply is refused unexpanded', () => {
    const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)}]`);
    const text = `l0: &l0 [x]\n${levels.join('\n')}\n`;
    expect(faultsOf(() => loadSample(text)).text).toContain('has aliases that multiply beyond 64');
  });

  it('with thousands of aliases is refused before they are looked up', () => {
    const text = `a: &a 1\nb: [${'*a,'.repeat(5000)}]\n`;
    expect(faultsOf(() => loadSample(text)).text).toContain('has more than 1024 uses of aliases');
  });

  it('of nothing but brackets is refused', () => {
    expect(faultsOf(() => loadSample('['.repeat(20_000))).diagnostics.length).toBeGreaterThan(0);
  });
});
