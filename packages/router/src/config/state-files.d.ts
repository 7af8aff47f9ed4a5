/** Names of what the router keeps in `stateDir`. */
export declare const stateFiles: {
  /** The BGP Identifier that was chosen. */
  readonly routerId: 'router-id';
  /** What settings of the host were before they were changed. */
  readonly sysctls: 'sysctls.json';
  /** The members that an operator has drained here. */
  readonly memberDrains: 'member-drains.json';
  /** The last addresses of names of members. */
  readonly memberNames: 'member-names.json';
  /** The last good lists of members from ConfigMaps. */
  readonly memberLists: 'member-lists.json';
};
