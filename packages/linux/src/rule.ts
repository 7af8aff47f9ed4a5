/** Policy routing rules: RTM_*RULE (include/uapi/linux/fib_rules.h, ip-rule(8)). */
import { familyOf, type IpVersion, prefixText, versionOfFamily } from './internet-address.ts';
import { MessageFlag, MessageWriter, PayloadReader } from './netlink-message.ts';

/** RTM_*RULE. */
export const RuleMessage = { New: 32, Delete: 33, Get: 34 } as const;

const structureLength = 12;
/** FIB_RULE_INVERT. */
const invertFlag = 2;
const Attribute = {
  Destination: 1,
  Source: 2,
  InputInterface: 3,
  Priority: 6,
  Mark: 10,
  Table: 15,
  MarkMask: 16,
  OutputInterface: 17,
  L3Master: 19,
  Protocol: 21,
  IpProtocol: 22,
  DestinationPorts: 24,
} as const;

const actions = [
  'unspecified',
  'table',
  'goto',
  'nop',
  'reserved',
  'reserved',
  'blackhole',
  'unreachable',
  'prohibit',
] as const;

/** FR_ACT_*: what happens to a packet that a rule matches. */
export type RuleAction = (typeof actions)[number];

/** A rule of the policy routing database. Rules are tried by priority, the lowest first. */
export interface Rule {
  readonly version: IpVersion;
  readonly priority: number;
  readonly action: RuleAction;
  readonly table: number;
  /** Matches packets with this firewall mark; undefined matches all. */
  readonly mark?: number;
  readonly markMask?: number;
  /** Matches what does not fit the rest (`ip rule add not ...`). */
  readonly isInverted?: boolean;
  /** FRA_PROTOCOL, who installed the rule, with numbers as for routes. */
  readonly protocol?: number;
  readonly destination?: string;
  readonly source?: string;
  readonly inputInterface?: string;
  readonly outputInterface?: string;
  /** Matches packets of interfaces of a VRF, and looks in its table. */
  readonly isForVrf?: boolean;
  /** IPPROTO_*. */
  readonly ipProtocol?: number;
  readonly destinationPorts?: readonly [from: number, to: number];
}

/** A rule by firewall mark. */
export interface MarkRule {
  readonly version: IpVersion;
  readonly priority: number;
  readonly mark: number;
  readonly table: number;
  readonly protocol?: number;
}

/** struct fib_rule_hdr. */
function structure(version: IpVersion, table = 0, action = 0): Uint8Array {
  const bytes = new Uint8Array(structureLength);
  bytes[0] = familyOf(version);
  bytes[4] = table > 255 ? 0 : table;
  bytes[7] = action;
  return bytes;
}

function markRule(type: number, flags: number, rule: MarkRule): MessageWriter {
  const writer = new MessageWriter(type, MessageFlag.Request | MessageFlag.Ack | flags)
    .structure(structure(rule.version, rule.table, actions.indexOf('table')))
    .u32(Attribute.Priority, rule.priority)
    .u32(Attribute.Mark, rule.mark)
    .u32(Attribute.Table, rule.table);
  return rule.protocol === undefined ? writer : writer.u8(Attribute.Protocol, rule.protocol);
}

/** Adds a rule; the kernel refuses one that is there (`EEXIST`). */
export function addRuleMessage(rule: MarkRule): MessageWriter {
  return markRule(RuleMessage.New, MessageFlag.Create | MessageFlag.Exclusive, rule);
}

/** Deletes the rule that matches all that is given. */
export function deleteRuleMessage(rule: MarkRule): MessageWriter {
  return markRule(RuleMessage.Delete, 0, rule);
}

/** A dump of the rules of one version. */
export function dumpRules(version: IpVersion): MessageWriter {
  return new MessageWriter(RuleMessage.Get, MessageFlag.Request | MessageFlag.Dump).structure(
    structure(version),
  );
}

/** Reads RTM_NEWRULE or RTM_DELRULE; undefined for families other than IPv4 and IPv6. @throws NetlinkFormatError */
export function parseRule(payload: Uint8Array): Rule | undefined {
  const reader = new PayloadReader(payload, structureLength, 'fib_rule_hdr');
  const version = versionOfFamily(reader.u8(0));
  if (version === undefined) return undefined;
  const attributes = reader.attributes();
  const mark = attributes.u32(Attribute.Mark);
  const markMask = attributes.u32(Attribute.MarkMask);
  const protocol = attributes.u8(Attribute.Protocol);
  const destination = attributes.address(Attribute.Destination);
  const source = attributes.address(Attribute.Source);
  const inputInterface = attributes.string(Attribute.InputInterface);
  const outputInterface = attributes.string(Attribute.OutputInterface);
  const ipProtocol = attributes.u8(Attribute.IpProtocol);
  const ports = attributes.bytes(Attribute.DestinationPorts);
  return {
    version,
    priority: attributes.u32(Attribute.Priority) ?? 0,
    action: actions[reader.u8(7)] ?? 'reserved',
    table: attributes.u32(Attribute.Table) ?? reader.u8(4),
    ...(mark === undefined ? {} : { mark }),
    ...(markMask === undefined ? {} : { markMask }),
    ...((reader.u32(8) & invertFlag) === 0 ? {} : { isInverted: true }),
    ...(protocol === undefined ? {} : { protocol }),
    ...(destination === undefined ? {} : { destination: prefixText(version, destination, reader.u8(1)) }),
    ...(source === undefined ? {} : { source: prefixText(version, source, reader.u8(2)) }),
    ...(inputInterface === undefined ? {} : { inputInterface }),
    ...(outputInterface === undefined ? {} : { outputInterface }),
    ...(attributes.u8(Attribute.L3Master) === 1 ? { isForVrf: true } : {}),
    ...(ipProtocol === undefined ? {} : { ipProtocol }),
    ...(ports === undefined ? {} : { destinationPorts: portRange(ports) }),
  };
}

/** struct fib_rule_port_range, in host order. */
function portRange(bytes: Uint8Array): readonly [from: number, to: number] {
  const range = new PayloadReader(bytes, 4, 'fib_rule_port_range');
  return [range.u16(0), range.u16(2)];
}
