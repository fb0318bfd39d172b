import * as z from "zod/mini";
import { whatsappRendering } from "../../model/channel-kinds/whatsapp.ts";
import { optional } from "../../model/field.ts";
import { credential, networkSettings, secret } from "../network/spec.ts";
import { takenByWhatsApp } from "./file-limits.ts";

/** The credentials, settings and addresses of WhatsApp channels. A contact's address is a phone number. */
export const whatsappSpec = {
  credentials: z.object({
    phoneNumberId: credential(/^\s*\d{1,32}\s*$/, "must be 1 to 32 digits", 64),
    accessToken: secret,
    appSecret: secret,
  }),
  settings: z.extend(networkSettings, {
    wabaId: optional(z.string().check(z.regex(/^\d{1,32}$/, "must be 1 to 32 digits"))),
  }),
  defaults: { perSecond: 80 },
  accountOf: ({ phoneNumberId = null }: Record<string, string | null>) => phoneNumberId,
  // Removes formatting, so that each number is one address.
  address(text: string): string | null {
    const digits = text.replace(/^\s*\+/, "").replace(/[\s()[\]-]/g, "");
    return /^\d{1,20}$/.test(digits) ? digits : null;
  },
  addressError: "must be a phone number: digits, with at most a leading +, spaces, dashes and brackets",
  renderingOf: whatsappRendering,
  takes: takenByWhatsApp,
};
