export { type Command, type CommandContext, UsageError } from './cli/command.ts';
export { ask, checkConfigCommand, showCommand } from './cli/daemon-commands.ts';
export { type CommandLineOptions, runCommandLine, type TextSink } from './cli/run-command-line.ts';
export {
  type AddressOptions,
  canonicalAddress,
  formatHostPort,
  type HostPort,
  hostPort,
  hostPrefix,
  ipAddress,
  neighborAddress,
} from './config/address.ts';
export {
  type BfdAuthenticationConfig,
  bfdAuthenticationFault,
  checkBfdPassword,
} from './config/bfd-authentication.ts';
export { type BfdSection, bfdSection } from './config/bfd-section.ts';
export { bfdTiming, type PartialBfdTiming } from './config/bfd-timing.ts';
export {
  capabilitySwitches,
  multiprotocolFault,
  type OptionalCapability,
} from './config/capability-switches.ts';
export { listenerFault, openApiWarnings, probeTimeFaults, vipPortFaults } from './config/common-faults.ts';
export { type Community, community, formatCommunity, isWellKnownCommunity } from './config/community.ts';
export { type ConfigKey, describeSchema } from './config/config-key.ts';
export { type ConfigChapter, configMarkdown } from './config/config-markdown.ts';
export { type CrossFieldFault, checkAcrossFields } from './config/cross-field-fault.ts';
export { ConfigError, type Diagnostic, formatDiagnostic, type Origin } from './config/diagnostic.ts';
export { type DurationLimits, duration, formatDuration, parseDuration } from './config/duration.ts';
export { FieldError, type FieldKind, type TextField, textField } from './config/field.ts';
export { filePath, socketPath } from './config/file-path.ts';
export { hostFaults, type NamedOnHost } from './config/host-faults.ts';
export type { Immutable } from './config/immutable.ts';
export { type JsonSchemaHeading, jsonSchema } from './config/json-schema.ts';
export { linkLocalDistanceFaults } from './config/link-local-distance.ts';
export { type LoadConfigOptions, type LoadedConfig, loadConfig } from './config/load-config.ts';
export { type LogSection, logSection } from './config/log-section.ts';
export { nearestName } from './config/nearest-name.ts';
export { asNumber, type NumberField, port } from './config/number-field.ts';
export { RESERVED_VARIABLES } from './config/override.ts';
export { percent } from './config/percent.ts';
export { readSecret, SecretError } from './config/read-secret.ts';
export { sessionKeys } from './config/session-keys.ts';
export { configName, dnsName, interfaceName, nodeName, requestPath } from './config/text-fields.ts';
export type { Readiness, TextRegistry } from './control/built-in-routes.ts';
export {
  ControlClientError,
  type ControlEventsOptions,
  controlBytes,
  controlEvents,
  controlRequest,
} from './control/control-client.ts';
export {
  ControlError,
  ControlReply,
  type ControlRequest,
  type ControlRoute,
  ControlStream,
} from './control/control-route.ts';
export { ControlServer, type ControlServerOptions } from './control/control-server.ts';
export { EventLog, type EventLogOptions, type LoggedEvent } from './control/event-log.ts';
export { type PageFiles, pageRoutes, readPage } from './control/page-routes.ts';
export { parseBody } from './control/parse-body.ts';
export { SnapshotStream, type SnapshotStreamOptions } from './control/snapshot-stream.ts';
export { UnixSocketError } from './control/unix-socket.ts';
export { checkClock } from './doctor/check-clock.ts';
export { checkDuplicates, type DetectedAddress } from './doctor/check-duplicates.ts';
export { chainsThatDrop, type NftChain } from './doctor/check-firewall.ts';
export { checkLiveness } from './doctor/check-liveness.ts';
export { checkOwners, type OwnerQuestion } from './doctor/check-owners.ts';
export { checkScheduling } from './doctor/check-scheduling.ts';
export { droppedSignatures } from './doctor/dropped-signatures.ts';
export { type Finding, fault, findingsTable, good, warning } from './doctor/finding.ts';
export { badFirst, type Reason, reasonsTable } from './explain/reason.ts';
export { HttpsProbe, type HttpsProbeOptions } from './health/https-probe.ts';
export {
  failingChecks,
  type PeerCertificate,
  type ProbeKind,
  type ProbeResult,
} from './health/probe-result.ts';
export type { ClientCertificate } from './health/tls-connection.ts';
export { age } from './output/age.ts';
export { lastErrorOf, lastErrorText, type SessionErrors } from './output/last-error.ts';
export {
  LineLimiter,
  type LineLimits,
  type SuppressedLines,
  suppressedText,
} from './output/line-limiter.ts';
export { printable } from './output/printable.ts';
export { OUTPUT_FORMATS, type OutputFormat, render } from './output/render.ts';
export { type Cell, type Column, formatTable, type Table } from './output/table.ts';
export { ExitCode, exitCodeOf, failureText } from './process/exit-code.ts';
export { acquireInstanceLock, type InstanceLock, InstanceLockError } from './process/instance-lock.ts';
export { createLogger, LOG_LEVELS, type Logger, type LogLevel } from './process/logger.ts';
export { createMetrics, type Metrics } from './process/metrics.ts';
export { MAX_STATE_SIZE, readRegularFile } from './process/read-regular-file.ts';
export { replaceFile } from './process/replace-file.ts';
export { type RunDaemonOptions, type RunningDaemon, runDaemon } from './process/run-daemon.ts';
export { changedKeys, checkReload, ReloadError, type ReloadRule } from './reload/check-reload.ts';
export {
  CertificateError,
  parseCertificates,
  publicKeyHash,
  publicKeyHashes,
} from './tls/public-key-hashes.ts';
