import type { CodecContext } from '../context.ts';
import { AttributeError } from '../errors.ts';
import type { Reader } from '../reader.ts';
import type { Writer } from '../writer.ts';
import { aggregator } from './aggregator.ts';
import { asPath } from './as-path.ts';
import { as4Aggregator } from './as4-aggregator.ts';
import { as4Path } from './as4-path.ts';
import { atomicAggregate } from './atomic-aggregate.ts';
import { clusterList } from './cluster-list.ts';
import type { AttributeCodec, AttributeValues, DiscardNotes, ReadValues } from './codec.ts';
import { communities } from './communities.ts';
import { extendedCommunities } from './extended-communities.ts';
import { largeCommunities } from './large-communities.ts';
import { localPref } from './local-pref.ts';
import { mpReach } from './mp-reach.ts';
import { mpUnreach } from './mp-unreach.ts';
import { multiExitDisc } from './multi-exit-disc.ts';
import { nextHop } from './next-hop.ts';
import { origin } from './origin.ts';
import { originatorId } from './originator-id.ts';

type CodecOf<Field extends keyof AttributeValues> = AttributeCodec<
  NonNullable<AttributeValues[Field]>,
  NonNullable<ReadValues[Field]>
>;

/** Every attribute that this library reads and writes. A field without a codec does not compile. */
const codecs: {
  readonly [Field in keyof AttributeValues]-?: CodecOf<Field>;
} = {
  origin,
  asPath,
  nextHop,
  multiExitDisc,
  localPref,
  atomicAggregate,
  aggregator,
  communities,
  originatorId,
  clusterList,
  mpReach,
  mpUnreach,
  extendedCommunities,
  as4Path,
  as4Aggregator,
  largeCommunities,
};

/** Values under construction. */
export type AttributeDraft = { -readonly [Field in keyof ReadValues]: ReadValues[Field] };

/** A codec tied to the field that it fills. */
export interface AttributeEntry extends Omit<AttributeCodec<unknown>, 'decode' | 'encode'> {
  /** @throws as `AttributeCodec.decode`; the field is left alone then. */
  decodeInto(reader: Reader, context: CodecContext, notes: DiscardNotes, draft: AttributeDraft): void;
  has(values: AttributeValues): boolean;
  encodeFrom(writer: Writer, values: AttributeValues, context: CodecContext): void;
}

function entry<Field extends keyof AttributeValues>(field: Field, codec: CodecOf<Field>): AttributeEntry {
  return {
    code: codec.code,
    name: codec.name,
    flags: codec.flags,
    onMalformed: codec.onMalformed,
    onWrongFlags: codec.onWrongFlags,
    lengthSubcode: codec.lengthSubcode,
    ...(codec.isInternalOnly === true ? { isInternalOnly: true } : {}),
    decodeInto(reader, context, notes, draft) {
      const value: AttributeDraft[Field] | undefined = codec.decode(reader, context, notes);
      if (reader.remaining > 0) {
        throw new AttributeError(codec.lengthSubcode, `${reader.remaining} octets too many`);
      }
      if (value !== undefined) draft[field] = value;
    },
    has: (values) => values[field] !== undefined,
    encodeFrom(writer, values, context) {
      const value = values[field];
      if (value !== undefined && value !== null) codec.encode(writer, value, context);
    },
  };
}

/** All attributes in ascending order of their type codes. */
export const attributeEntries: readonly AttributeEntry[] = [
  entry('origin', codecs.origin),
  entry('asPath', codecs.asPath),
  entry('nextHop', codecs.nextHop),
  entry('multiExitDisc', codecs.multiExitDisc),
  entry('localPref', codecs.localPref),
  entry('atomicAggregate', codecs.atomicAggregate),
  entry('aggregator', codecs.aggregator),
  entry('communities', codecs.communities),
  entry('originatorId', codecs.originatorId),
  entry('clusterList', codecs.clusterList),
  entry('mpReach', codecs.mpReach),
  entry('mpUnreach', codecs.mpUnreach),
  entry('extendedCommunities', codecs.extendedCommunities),
  entry('as4Path', codecs.as4Path),
  entry('as4Aggregator', codecs.as4Aggregator),
  entry('largeCommunities', codecs.largeCommunities),
];

const byCode: readonly (AttributeEntry | undefined)[] = Array.from({ length: 256 }, (_, code) =>
  attributeEntries.find((candidate) => candidate.code === code),
);

export function attributeEntry(code: number): AttributeEntry | undefined {
  return byCode[code];
}
