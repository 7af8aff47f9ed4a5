export type { AccessRule } from './access-rules.ts';
export { definitionOf } from './object-writes.ts';
export { servingCertificate } from './serving-certificate.ts';
export { StandInApiServer } from './stand-in-api-server.ts';
