import { staticMembers } from '../kit/static-members.ts';

staticMembers('kernel');
