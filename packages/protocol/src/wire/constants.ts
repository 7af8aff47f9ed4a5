/** Sizes and type numbers of RFC 4271 section 4 and the extensions to it. */

export const HEADER_LENGTH: number = 19;
export const MARKER_LENGTH: number = 16;
/** The longest message without RFC 8654. */
export const MAX_MESSAGE_LENGTH: number = 4096;
/** The longest message with RFC 8654. */
export const MAX_EXTENDED_MESSAGE_LENGTH: number = 65535;
export const BGP_VERSION: number = 4;

/** Message types: RFC 4271 section 4.1, RFC 2918 section 3. */
export const MessageType = { Open: 1, Update: 2, Notification: 3, Keepalive: 4, RouteRefresh: 5 } as const;
export type MessageType = (typeof MessageType)[keyof typeof MessageType];
