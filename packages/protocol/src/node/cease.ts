import { CeaseSubcode, NotificationCode, type NotificationContent, shutdownCommunication } from '../index.ts';

/** A Cease: of its subcodes only Administrative Shutdown and Reset carry a text (RFC 9003 section 2). */
export function cease(subcode: number, text?: string): NotificationContent {
  const takesText =
    subcode === CeaseSubcode.AdministrativeShutdown || subcode === CeaseSubcode.AdministrativeReset;
  const data = takesText && text !== undefined ? shutdownCommunication(text) : new Uint8Array(0);
  return { code: NotificationCode.Cease, subcode, data };
}
