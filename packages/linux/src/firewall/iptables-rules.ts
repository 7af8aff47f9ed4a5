/** Rules of iptables, of what `iptables -S` says (iptables(8), iptables-extensions(8)). */
import { isInPrefix } from './address-range.ts';
import {
  type Action,
  type Condition,
  type FirewallChain,
  type FirewallHook,
  type FirewallRule,
  isInterface,
  isMarked,
  noAction,
  not,
  type Truth,
  trackedAs,
} from './firewall-rule.ts';

const hooks: Readonly<Record<string, FirewallHook>> = {
  PREROUTING: 'prerouting',
  INPUT: 'input',
  FORWARD: 'forward',
  OUTPUT: 'output',
  POSTROUTING: 'postrouting',
};
/** Of the tables that filter (NF_IP_PRI_*). */
const priorities: Readonly<Record<string, number>> = { raw: -300, mangle: -150, filter: 0, security: 50 };

/**
 * @param text the output of `iptables -t TABLE -S`
 * @param table as it is to be named: `iptables-legacy filter`; its last word is iptables' own name
 */
export function iptablesChains(text: string, table: string, version: 4 | 6): readonly FirewallChain[] {
  const chains = new Map<string, { policy: 'accept' | 'drop'; rules: FirewallRule[] }>();
  const chain = (name: string): { policy: 'accept' | 'drop'; rules: FirewallRule[] } => {
    const known = chains.get(name) ?? { policy: 'accept' as const, rules: [] };
    chains.set(name, known);
    return known;
  };
  for (const line of text.split('\n')) {
    const [command, name = '', ...words] = wordsOf(line);
    if (command === '-P') chain(name).policy = words[0] === 'DROP' ? 'drop' : 'accept';
    else if (command === '-N') chain(name);
    else if (command === '-A') chain(name).rules.push(ruleOf(words));
  }
  const kind = table.split(' ').at(-1) ?? '';
  return [...chains].map(([name, { policy, rules }]) => ({
    ...{ version, table, name, policy, rules },
    hook: kind in priorities ? hooks[name] : undefined,
    priority: priorities[kind] ?? 0,
  }));
}

/** Words of a line; one in quotation marks is one word. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

function ruleOf(words: readonly string[]): FirewallRule {
  const parts: (Condition | Action)[] = [];
  let rest = words;
  while (rest.length > 0) {
    const isNot = rest[0] === '!';
    const [option = '', ...after] = isNot ? rest.slice(1) : rest;
    if (option === '-j' || option === '-g') {
      parts.push(targetOf(option, after));
      break;
    }
    const end = after.findIndex((word) => word === '!' || /^--?[a-z]/.test(word));
    const values = end === -1 ? after : after.slice(0, end);
    rest = after.slice(values.length);
    const holds = conditionOf(option, values);
    if (holds !== undefined) {
      parts.push(isNot ? (packet, marks) => not(holds(packet, marks)) : holds);
    }
  }
  return parts;
}

/** Undefined for what asks for nothing. */
function conditionOf(option: string, [value = '']: readonly string[]): Condition | undefined {
  switch (option) {
    case '-m':
    case '--match':
    case '--comment':
      return undefined;
    case '-i':
      return ({ input }) => isInterface(input, value);
    case '-o':
      return ({ output }) => isInterface(output, value);
    case '-s':
      return ({ source }) => inPrefix(source, value);
    case '-d':
      return ({ destination }) => inPrefix(destination, value);
    case '-p':
      return () => (['tcp', '6', 'all'].includes(value) ? 'yes' : 'no');
    case '--dport':
    case '--dports':
    case '--destination-ports':
      return ({ destinationPort }) => inPorts(destinationPort, value);
    case '--sport':
    case '--sports':
      return ({ sourcePort }) => inPorts(sourcePort, value);
    case '--ctstate':
    case '--state':
      return (packet) => trackedAs(packet, value.toLowerCase().split(','));
    case '--syn':
      return () => 'yes';
    case '--mark': {
      const [mark = '', mask] = value.split('/');
      return (_, marks) => isMarked(marks, Number(mark), mask === undefined ? undefined : Number(mask));
    }
    default:
      return () => 'maybe';
  }
}

function inPrefix(address: string | undefined, text: string): Truth {
  const [network = '', length] = text.split('/');
  if (!/^[0-9a-f:.]+$/i.test(network) || length?.includes('.') === true) return 'maybe';
  return isInPrefix(address, network, Number(length ?? (network.includes(':') ? 128 : 32)));
}

/** `80,443,6000:7000` */
function inPorts(port: number | undefined, text: string): Truth {
  if (port === undefined) return 'maybe';
  const isIn = text.split(',').some((one) => {
    const [first = '', last = first] = one.split(':');
    return Number(first) <= port && port <= Number(last);
  });
  return isIn ? 'yes' : 'no';
}

/** Targets that decide nothing, and change nothing that is asked for here. */
const WITHOUT_EFFECT = new Set([
  'LOG',
  'NFLOG',
  'TCPMSS',
  'CT',
  'NOTRACK',
  'TRACE',
  'CHECKSUM',
  'TOS',
  'DSCP',
]);

function targetOf(option: '-j' | '-g', [target = '', ...options]: readonly string[]): Action {
  switch (target) {
    case 'ACCEPT':
      return { kind: 'accept' };
    case 'DROP':
    case 'REJECT':
      return { kind: 'drop' };
    case 'RETURN':
      return { kind: 'return' };
    case 'MARK':
      return { kind: 'mark', mark: markOf(options) };
    case 'CONNMARK':
      return { kind: 'mark', mark: undefined };
    default:
      if (WITHOUT_EFFECT.has(target)) return noAction;
      // Targets have capitals alone, and chains may have them too: one that is none here decides nothing that is known.
      return { kind: option === '-j' ? 'jump' : 'goto', chain: target };
  }
}

/** `--set-xmark 0x7/0xffffffff`, `--set-mark 7`. */
function markOf([option, value = '']: readonly string[]): number | undefined {
  const [mark = '', mask = '0xffffffff'] = value.split('/');
  const isWhole = Number(mask) === 0xffff_ffff;
  return isWhole && (option === '--set-xmark' || option === '--set-mark') ? Number(mark) : undefined;
}
