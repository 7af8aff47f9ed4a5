import type { AttributeOctets } from '../wire/attribute-octets.ts';
import type { NlriField } from '../wire/nlri-field.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import type { AttributeTable } from './attribute-table.ts';
import type { UpdateRoutes } from './update-routes.ts';

/** The routes of one field, and the attributes of them all, which are made when they are looked at where they were recalled. */
export type AnnouncedRoutes = UpdateRoutes<NlriField>['announced'][number];

export interface AnnouncementOptions {
  readonly announced: AnnouncedRoutes;
  /** What the attributes were read from, where that is to be remembered. */
  readonly field: AttributeOctets | undefined;
  /** The number of the attributes in the table, or -1 where they were not recalled from it. */
  readonly recalled: number;
  /** Why no route of it may be used. */
  readonly loop: string | undefined;
  /** Monotonic milliseconds. */
  readonly now: number;
}

/** What one UPDATE announces with one set of attributes, which is interned when the first route of it is taken. */
export class Announcement {
  readonly routes: NlriField;
  readonly loop: string | undefined;
  readonly now: number;
  readonly #table: AttributeTable;
  readonly #announced: AnnouncedRoutes;
  readonly #field: AttributeOctets | undefined;
  /** Of the attributes that were received; -1 before they were interned. */
  #number: number;
  /** What policy gave last in their place, and its number. */
  #given: PathAttributes | undefined;
  #givenNumber = -1;

  constructor(table: AttributeTable, { announced, field, recalled, loop, now }: AnnouncementOptions) {
    this.routes = announced.routes;
    this.loop = loop;
    this.now = now;
    this.#table = table;
    this.#announced = announced;
    this.#field = field;
    this.#number = recalled;
  }

  get received(): PathAttributes {
    return this.#announced.attributes;
  }

  /** The number of the attributes that were received, with one more reference to them. */
  holdReceived(): number {
    if (this.#number < 0) this.#number = this.#table.hold(this.received, this.#field);
    else this.#table.holdNumber(this.#number);
    return this.#number;
  }

  /** As `holdReceived`, for what policy gave. What it gave for the route before is not looked up again. */
  holdGiven(given: PathAttributes): number {
    if (given === this.received) return this.holdReceived();
    if (given === this.#given) {
      this.#table.holdNumber(this.#givenNumber);
    } else {
      this.#given = given;
      this.#givenNumber = this.#table.hold(given);
    }
    return this.#givenNumber;
  }
}
