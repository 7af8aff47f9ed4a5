/** Where a program or an image comes from: a URL, or a path on the machine; and what it must be. */
export interface Delivery {
  readonly source: string;
  /** 64 hexadecimal digits. */
  readonly sha256: string;
}

export interface BootstrapSettings {
  readonly role: 'init' | 'join' | 'worker';
  /** The speaker's single-file executable; undefined when it is on the machine already. */
  readonly program: Delivery | undefined;
  readonly image: string;
  /** An archive that containerd imports; undefined when the kubelet pulls the image. */
  readonly imageArchive: Delivery | undefined;
  /** The first of `bootstrap.markers`. */
  readonly marker: string;
  /** The CA is one that was made beforehand: its certificate and key are in `machineFiles.authority`. */
  readonly hasAuthority: boolean;
}

/** Files on the machine. */
export const machineFiles = {
  program: '/usr/local/bin/bgp-lb-speaker',
  speakerConfig: '/etc/bgp-lb/speaker.yaml',
  routerConfig: '/etc/bgp-lb/router.yaml',
  kubeadmConfig: '/etc/bgp-lb/kubeadm.yaml',
  script: '/usr/local/lib/bgp-lb/bootstrap.sh',
  bootstrapUnit: '/etc/systemd/system/bgp-lb-bootstrap.service',
  routeUnit: '/etc/systemd/system/bgp-lb-vip-route.service',
  routerUnit: '/etc/systemd/system/bgp-lb-router.service',
  routerDrainUnit: '/etc/systemd/system/bgp-lb-router-drain.service',
  imageArchive: '/var/lib/bgp-lb/image.tar',
  /** Where the CA waits for kubeadm: `kubeadm reset` empties /etc/kubernetes/pki. */
  authority: { certificate: '/etc/bgp-lb/pki/ca.crt', key: '/etc/bgp-lb/pki/ca.key' },
  /** kubeadm has been started, or has succeeded: for the retry after a failure or a power cut. */
  began: '/var/lib/bgp-lb/kubeadm-began',
  done: '/var/lib/bgp-lb/kubeadm-done',
  /** How many attempts have failed. */
  failures: '/var/lib/bgp-lb/kubeadm-failures',
} as const;

const head = `#!/bin/sh
# Written by bgp-lb-speaker cloud-init. bgp-lb-bootstrap.service runs it until it has succeeded once: also after a power cut.
set -eu

say() {
  echo "bgp-lb: $*"
}

# fetch SOURCE TARGET SHA256: a URL or a file of this machine, put in place only when it is the right one.
fetch() {
  if [ -f "$2" ] && echo "$3  $2" | sha256sum --check --status; then return; fi
  mkdir -p "$(dirname "$2")"
  case $1 in
    http://* | https://*) curl --fail --silent --show-error --location --retry 20 --retry-delay 5 --output "$2.new" "$1" ;;
    *) cp "$1" "$2.new" ;;
  esac
  if ! echo "$3  $2.new" | sha256sum --check --status; then
    rm -f "$2.new"
    say "$1 does not have the SHA-256 $3"
    exit 1
  fi
  chmod 755 "$2.new"
  mv -f "$2.new" "$2"
}
`;

/** What the machine does at its first boot, and again until kubeadm has succeeded. POSIX sh. */
export function bootstrapScript(settings: BootstrapSettings): string {
  const { role } = settings;
  return [
    head,
    `[ -e ${machineFiles.done} ] && exit 0\nmkdir -p ${dirnameOf(machineFiles.began)}\n`,
    pause,
    ...(role === 'worker' ? [] : deliveries(settings)),
    retry,
    ...(role === 'worker' ? [] : speakerSteps(settings)),
    kubeadm(settings),
  ].join('\n');
}

/** Puts the router's program in place: an archive with `node`, `bgp-lb-router.mjs` and `node_modules/koffi`. POSIX sh. */
export function routerScript({ source, sha256 }: Delivery): string {
  return `${head}
fetch ${quoted(source)} /opt/bgp-lb/program.tar.gz ${sha256}
tar -xzf /opt/bgp-lb/program.tar.gz -C /opt/bgp-lb
/opt/bgp-lb/node /opt/bgp-lb/bgp-lb-router.mjs check-config
`;
}

function deliveries({ program, image, imageArchive }: BootstrapSettings): readonly string[] {
  return [
    ...(program === undefined
      ? []
      : [`fetch ${quoted(program.source)} ${machineFiles.program} ${program.sha256}\n`]),
    ...(imageArchive === undefined
      ? []
      : [
          `if ! ctr --namespace k8s.io images list --quiet | grep --quiet --line-regexp --fixed-strings ${quoted(image)}; then
  fetch ${quoted(imageArchive.source)} ${machineFiles.imageArchive} ${imageArchive.sha256}
  ctr --namespace k8s.io images import ${machineFiles.imageArchive}
  rm -f ${machineFiles.imageArchive}
fi
`,
        ]),
  ];
}

/** Seconds between two attempts: the first, and the most. systemd can do so from 254 on (RestartSteps), which not all have. */
const PAUSE = { first: 10, most: 300 } as const;

const pause = `# After a failure the next attempt waits, each time twice as long: systemd starts this script anew at once.
failed() {
  code=$?
  if [ "$code" -eq 0 ]; then return; fi
  failures=$(($(cat ${machineFiles.failures} 2>/dev/null || echo 0) + 1))
  echo "$failures" >${machineFiles.failures}
  pause=${PAUSE.first}
  while [ "$failures" -gt 1 ] && [ "$pause" -lt ${PAUSE.most} ]; do
    pause=$((pause * 2))
    failures=$((failures - 1))
  done
  if [ "$pause" -gt ${PAUSE.most} ]; then pause=${PAUSE.most}; fi
  say "attempt $(cat ${machineFiles.failures}) failed; the next one begins in $pause s"
  sleep "$pause"
  exit "$code"
}
trap failed EXIT
`;

const retry = `# What an attempt that did not come to its end left, kubeadm refuses.
if [ -e ${machineFiles.began} ]; then
  say 'kubeadm was started before and did not succeed: beginning anew'
  kubeadm reset --force
  rm -f ${machineFiles.began}
fi
`;

function speakerSteps({ role, image }: BootstrapSettings): readonly string[] {
  return [
    `${machineFiles.program} prepare --role ${role}
${role === 'join' ? `${machineFiles.program} wait --timeout 24h\n` : ''}
# Kept as well: after a reset \`prepare\` gives it to the kubelet again.
${machineFiles.program} manifest --image ${quoted(image)} --place
`,
  ];
}

/**
 * The exit status of kubeadm is the proof of bootstrap: the marker follows it and nothing else. It is not empty, so that it counts
 * whatever its time: a clock that is set back meanwhile, as NTP does at a first boot, would make it older than ca.crt.
 */
function kubeadm({ role, marker, hasAuthority }: BootstrapSettings): string {
  const verb = role === 'init' ? 'init' : 'join';
  const command = role === 'init' ? 'init --upload-certs' : 'join';
  const { certificate, key } = machineFiles.authority;
  const authority = `# kubeadm takes the CA that it finds. It is put there for each attempt: a reset removes it.
mkdir -p ${kubeadmPki}
install -m 0644 ${certificate} ${kubeadmPki}/ca.crt
install -m 0600 ${key} ${kubeadmPki}/ca.key

`;
  return `${hasAuthority ? authority : ''}# What fails here has changed nothing, and needs no reset.
kubeadm ${verb} phase preflight --config ${machineFiles.kubeadmConfig}
touch ${machineFiles.began}
kubeadm ${command} --config ${machineFiles.kubeadmConfig}
# On disk before anything else: whatever fails from here on, this machine is never reset for it.
rm -f ${machineFiles.began}
sync
${role === 'worker' ? '' : `mkdir -p ${quoted(dirnameOf(marker))}\necho yes >${quoted(marker)}\n`}touch ${machineFiles.done}
sync
${hasAuthority ? `rm -f ${key}\n` : ''}`;
}

const kubeadmPki = '/etc/kubernetes/pki';

function dirnameOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/** A word for the shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
