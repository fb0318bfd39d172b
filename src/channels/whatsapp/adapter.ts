import type { Adapter } from "../network/adapter.ts";
import { actOnWhatsApp } from "./acts.ts";
import { isOptOut } from "./errors.ts";
import { inspectNumber } from "./inspect.ts";
import { listWhatsAppTemplates } from "./list-templates.ts";
import { whatsappMedia } from "./media.ts";
import { postToWhatsApp } from "./post.ts";
import { renderForWhatsApp, type WhatsAppPart } from "./render.ts";
import { whatsappSpec } from "./spec.ts";
import { registerWhatsAppWebhook } from "./subscriptions.ts";
import { handshake, isFor, receiveFromWhatsApp } from "./webhook.ts";

/**
 * The WhatsApp Cloud API. A contact's address is a phone number (only digits) or Meta's user id. If Meta accepted a message,
 * a status with the message's id arrives within 90 seconds.
 */
export const whatsapp: Adapter<WhatsAppPart> = {
  ...whatsappSpec,
  base: { variable: "WHATSAPP_API_BASE", defaultUrl: "https://graph.facebook.com" },
  unknownWaitMs: 90_000,
  render: renderForWhatsApp,
  post: postToWhatsApp,
  acts: { kinds: ["react", "read", "typing"], make: actOnWhatsApp },
  receive: receiveFromWhatsApp,
  handshake,
  isFor,
  registerWebhook: registerWhatsAppWebhook,
  isOptOut,
  inspect: inspectNumber,
  isAskedDaily: true,
  listTemplates: listWhatsAppTemplates,
  media: whatsappMedia,
};
