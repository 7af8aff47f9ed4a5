export { servingCertificate } from './serving-certificate.ts';
export { StandInApiServer } from './stand-in-api-server.ts';
