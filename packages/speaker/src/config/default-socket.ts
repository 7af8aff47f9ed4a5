/** Where the speaker's HTTP API is, and the commands ask, unless they are told otherwise. */
export const DEFAULT_SOCKET = '/run/bgp-lb/speaker.sock';
