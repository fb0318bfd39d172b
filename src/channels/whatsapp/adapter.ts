import type { Adapter } from "../adapter.ts";
import { whatsappMedia } from "./media.ts";
import { countWhatsAppParts, sendToWhatsApp } from "./send.ts";
import { whatsappSpec } from "./spec.ts";
import { handshake, isFor, receiveFromWhatsApp } from "./webhook.ts";

/**
 * The WhatsApp Cloud API. A contact's address is a phone number, digits alone, or a user id as Meta gives it; a status
 * brings our ids back within a minute and a half, or Meta never took the message.
 */
export const whatsapp: Adapter = {
  ...whatsappSpec,
  base: { variable: "WHATSAPP_API_BASE", defaultUrl: "https://graph.facebook.com" },
  unknownWaitMs: 90_000,
  countParts: countWhatsAppParts,
  send: sendToWhatsApp,
  receive: receiveFromWhatsApp,
  handshake,
  isFor,
  media: whatsappMedia,
};
