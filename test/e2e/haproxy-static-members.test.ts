import { staticMembers } from '../kit/static-members.ts';

staticMembers('haproxy');
