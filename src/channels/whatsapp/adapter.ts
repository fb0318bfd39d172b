import type { Adapter } from "../adapter.ts";
import { media } from "./media.ts";
import { partsOf, send } from "./send.ts";
import { form } from "./spec.ts";
import { handshake, isFor, receive } from "./webhook.ts";

/**
 * The WhatsApp Cloud API. A contact's address is a phone number, digits alone, or a user id as Meta gives it; a status
 * brings our ids back within a minute and a half, or Meta never took the message.
 */
export const whatsapp: Adapter = {
  ...form,
  base: { variable: "WHATSAPP_API_BASE", usual: "https://graph.facebook.com" },
  unknownWaitMs: 90_000,
  partsOf,
  send,
  receive,
  handshake,
  isFor,
  media,
};
