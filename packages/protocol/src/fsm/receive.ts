import { NotificationError } from '../wire/errors.ts';
import type { OpenMessage, ReceivedMessage } from '../wire/message.ts';
import { NotificationCode, OpenSubcode } from '../wire/notification-codes.ts';
import type { FsmEvent } from './event.ts';
import { type ExpectedPeer, negotiate } from './negotiate.ts';

/** The event that a received message is (RFC 4271 section 8.1.5). An OPEN is checked against ours here. */
export function messageEvent(
  message: ReceivedMessage,
  localOpen: OpenMessage,
  expected: ExpectedPeer,
): FsmEvent {
  switch (message.type) {
    case 'OPEN':
      return openEvent(message, localOpen, expected);
    case 'UPDATE':
      return { type: 'UpdateMsg', update: message };
    case 'KEEPALIVE':
      return { type: 'KeepAliveMsg' };
    case 'ROUTE-REFRESH':
      return { type: 'RouteRefreshMsg', refresh: message };
    case 'NOTIFICATION': {
      const { code, subcode } = message;
      const isVersion =
        code === NotificationCode.OpenMessageError && subcode === OpenSubcode.UnsupportedVersionNumber;
      return { type: isVersion ? 'NotifMsgVerErr' : 'NotifMsg', notification: message };
    }
  }
}

function openEvent(message: OpenMessage, localOpen: OpenMessage, expected: ExpectedPeer): FsmEvent {
  try {
    return { type: 'BGPOpen', negotiated: negotiate(localOpen, message, expected) };
  } catch (error) {
    if (error instanceof NotificationError) return errorEvent(error);
    throw error;
  }
}

/** The event that a fault in a received message is. */
export function errorEvent({ code, subcode, data }: NotificationError): FsmEvent {
  const notification = { code, subcode, data };
  switch (code) {
    case NotificationCode.OpenMessageError:
      return { type: 'BGPOpenMsgErr', notification };
    case NotificationCode.UpdateMessageError:
      return { type: 'UpdateMsgErr', notification };
    case NotificationCode.Cease:
      return { type: 'AutomaticStop', notification };
    case NotificationCode.RouteRefreshMessageError:
      return { type: 'RouteRefreshMsgErr', notification };
    default:
      return { type: 'BGPHeaderErr', notification };
  }
}
