/**
 * Node's `node:http`, without what is not used of it: an `import` of the module evaluates every name that it exports,
 * among them `WebSocket`, and so loads an HTTP client of some 14 MB that neither daemon uses.
 */
export const http: typeof import('node:http') = process.getBuiltinModule('node:http');
