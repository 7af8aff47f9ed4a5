import { type Finding, fault, good, type ProbeResult, parseCertificates, warning } from '@bgp-lb/daemon';
import type { SpeakerConfig } from '../config/speaker-config.ts';

/** ca.crt. @param text its content, or why it cannot be read */
export function checkCa(caFile: string, text: string | Error, now: Date): readonly Finding[] {
  const check = 'ca';
  if (text instanceof Error) {
    return [
      fault(
        check,
        caFile,
        text.message,
        'before kubeadm that is as it should be; after it, see apiServer.caFile',
      ),
    ];
  }
  try {
    const certificates = parseCertificates(text);
    return certificates.map(({ subject, validFrom, validTo }) => {
      const value = `${subject.replaceAll('\n', ', ')}, valid ${validFrom} to ${validTo}`;
      const isValid = new Date(validFrom) <= now && now <= new Date(validTo);
      return isValid
        ? good(check, caFile, value)
        : fault(check, caFile, value, `now is ${now.toISOString()}: set the clock, or renew the CA`);
    });
  } catch (error) {
    return [
      fault(
        check,
        caFile,
        error instanceof Error ? error.message : String(error),
        'PEM certificates are allowed',
      ),
    ];
  }
}

const probeFixes: Partial<Record<ProbeResult['kind'], string>> = {
  refused: 'nothing listens there: is the API server running, and is machinePort its port?',
  timeout: 'the API server is stuck, or a firewall is in the way',
  unreachable: 'apiServer.address has to be an address of this host',
  tls: 'its certificate has to come from the CA of apiServer.caFile and to carry apiServer.serverName',
  unauthorized:
    'anonymous access to /readyz is off: allow it for system:public-info-viewer, or the speaker takes it for not ready',
  status: 'see the checks that fail in the log of the API server',
};

/** The API server of this machine, and its certificate. */
export function checkApiServer(
  place: string,
  result: ProbeResult,
  { vips, endpoint }: Pick<SpeakerConfig, 'vips' | 'endpoint'>,
): readonly Finding[] {
  const findings: Finding[] = [
    result.kind === 'ok'
      ? good('api server', place, result.detail)
      : fault('api server', place, result.detail, probeFixes[result.kind] ?? 'see the log of the API server'),
  ];
  const names = result.certificate?.subjectAltNames;
  if (names === undefined) return findings;
  const wanted = [...(endpoint === undefined ? vips.map(({ address }) => address) : [endpoint])];
  for (const name of wanted) {
    findings.push(
      names.includes(name)
        ? good('certificate', place, `is for ${name}`)
        : fault(
            'certificate',
            place,
            `is for ${names.join(', ')}, not for ${name}`,
            `add ${name} to apiServer.certSANs of kubeadm's ClusterConfiguration, remove apiserver.crt and run: kubeadm init phase certs apiserver`,
          ),
    );
  }
  return [
    ...findings,
    ...result.warnings.map((text) => warning('certificate', place, text, 'kubeadm certs renew')),
  ];
}

/** `--shutdown-delay-duration` in the API server's manifest. @param text undefined when there is none to be read */
export function checkShutdownDelay(file: string, text: string | undefined, drainTimeout: number): Finding {
  const check = 'shutdown delay';
  const advice = 'kubeadm: apiServer.extraArgs shutdown-delay-duration 15s';
  if (text === undefined)
    return warning(check, file, 'cannot be read', `is the API server kubeadm's? ${advice}`);
  const seconds = Number(/--shutdown-delay-duration=(\d+)s/.exec(text)?.[1] ?? 0);
  if (seconds < 5) {
    return fault(
      check,
      file,
      `--shutdown-delay-duration is ${seconds === 0 ? 'not set' : `${seconds}s`}: the port closes before clients have moved`,
      advice,
    );
  }
  return seconds * 1_000 < drainTimeout
    ? good(check, file, `${seconds}s`)
    : fault(check, file, `${seconds}s`, `drain.timeout has to be longer; it is ${drainTimeout / 1_000}s`);
}
