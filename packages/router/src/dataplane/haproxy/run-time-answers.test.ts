import { describe, expect, it } from 'vitest';
import { readProcess, readServers, readSessionIds, readSessions, readWorkers } from './run-time-answers.ts';

// As HAProxy 2.6.12 of Debian 12 answers, columns that nothing looks at left out of `show stat`.
const state = `1
# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight srv_time_since_last_change srv_check_status srv_check_result srv_check_health srv_check_state srv_agent_state bk_f_forced_id srv_f_forced_id srv_fqdn srv_port srvrecord srv_use_ssl srv_check_port srv_check_addr srv_agent_addr srv_agent_port
3 masters 1 anchor 127.0.0.1 0 5 1 1 689 1 0 0 14 0 0 0 - 1 - 0 0 - - 0
3 masters 2 10.0.0.11 10.0.0.11 2 0 256 256 689 15 3 4 6 0 0 0 - 6443 - 0 0 - - 0
3 masters 4 fd00::13 fd00::13 3 8 256 256 1 16 4 4 7 0 0 0 - 6443 - 0 0 - - 0`;
const stat = `# pxname,svname,scur,status,check_status,last_chk,check_desc,
masters,anchor,0,MAINT,,,,
masters,10.0.0.11,7,UP,* L7OK,,Layer7 check passed,
masters,fd00::13,0,NOLB,L7OKC,"so ""ready"", as
it is",Layer7 check conditionally passed,`;

describe('answers of HAProxy', () => {
  it('tell the servers, the one that is never used aside', () => {
    expect(readServers(state, stat)).toMatchObject([
      {
        name: '10.0.0.11',
        admin: 'ready',
        weight: 256,
        isUp: true,
        isChecked: true,
        check: 'L7OK',
        sessions: 7,
      },
      { name: 'fd00::13', admin: 'drain', isUp: false, status: 'NOLB', check: 'L7OKC', sessions: 0 },
    ]);
  });

  it('tell the ids of the sessions to each server, those of the run-time API aside', () => {
    const sessions = `0x55df7e7de930: proto=tcpv4 src=127.0.0.1:37202 fe=f be=members-10.0.0.100 srv=10.0.0.11 ts=00 epoch=0 age=8s
0x55df7e8fa0e0: proto=sockpair src=unix:2 fe=GLOBAL be=<NONE> srv=<none> ts=00 epoch=0 age=0s
0x7f5a2c03a090: proto=tcpv6 src=::1:37216 fe=f be=members-fd00::100 srv=fd00::11 ts=00 epoch=0 age=8s
0x7f5a2c03a8b0: proto=tcpv4 src=127.0.0.1:37234 fe=f be=members-10.0.0.100 srv=10.0.0.11 ts=00 epoch=0 age=8s`;
    const ids = readSessionIds(sessions);
    expect(ids.get('members-10.0.0.100/10.0.0.11')).toEqual(['0x55df7e7de930', '0x7f5a2c03a8b0']);
    expect(ids.get('members-fd00::100/fd00::11')).toEqual(['0x7f5a2c03a090']);
  });

  it('tell the sessions of a worker', () => {
    expect([...readSessions(stat)]).toEqual([
      ['masters/anchor', 0],
      ['masters/10.0.0.11', 7],
      ['masters/fd00::13', 0],
    ]);
  });

  it('leave out a server that only one of them has', () => {
    expect(readServers(state, stat.replace(/^masters,10.*\n/m, '')).map(({ name }) => name)).toEqual([
      'fd00::13',
    ]);
  });

  it.each(['', 'Permission denied', '2\n# be_id'])('are refused when they are none: %j', (text) => {
    expect(() => readServers(text, stat)).toThrow(RangeError);
    expect(() => readServers(state, text)).toThrow(RangeError);
    expect(() => readProcess(text)).toThrow(RangeError);
  });

  it('tell the process and its configuration', () => {
    const info = 'Name: HAProxy\nVersion: 2.6.12-1+deb12u3\nPid: 27614\ndescription: bgp-lb-0123\n';
    expect(readProcess(info)).toEqual({
      pid: 27614,
      description: 'bgp-lb-0123',
      version: '2.6.12-1+deb12u3',
    });
  });

  it('tell the workers of configurations before', () => {
    const processes = `#<PID>          <type>          <reloads>       <uptime>        <version>
23976           master          2 [failed: 1]   0d00h01m47s     2.6.12-1+deb12u3
# workers
27851           worker          0               0d00h00m01s     2.6.12-1+deb12u3
# old workers
27614           worker          1               0d00h00m08s     2.6.12-1+deb12u3
# programs`;
    expect(readWorkers(processes)).toEqual({ current: 27851, reloads: 2, old: [27614] });
  });
});
