/** Names of what the router keeps in `stateDir`. */
export const stateFiles = {
  /** The BGP Identifier that was chosen. */
  routerId: 'router-id',
  /** What settings of the host were before they were changed. */
  sysctls: 'sysctls.json',
  /** The members that an operator has drained here. */
  memberDrains: 'member-drains.json',
} as const;
