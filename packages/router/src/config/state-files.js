/** Names of what the router keeps in `stateDir`. */
export const stateFiles = {
  /** The BGP Identifier that was chosen. */
  routerId: 'router-id',
  /** What settings of the host were before they were changed. */
  sysctls: 'sysctls.json',
  /** The members that an operator has drained here. */
  memberDrains: 'member-drains.json',
  /** The last addresses of names of members. */
  memberNames: 'member-names.json',
  /** The last good lists of members from ConfigMaps. */
  memberLists: 'member-lists.json',
};
