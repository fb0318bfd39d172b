import * as z from "zod/mini";
import { whatsappRendering } from "../../model/channel-kinds/whatsapp.ts";
import { optional } from "../../model/field.ts";
import { type FileInfo, MEBIBYTE, type MediaType } from "../../model/file.ts";
import type { Alike } from "../../model/organization.ts";
import { credential, networkSettings, secret } from "../network/spec.ts";
import { ivorianForms, otherForm, whatsappAddress } from "./phone-number.ts";

/** The credentials, settings and addresses of WhatsApp channels. A contact's address is a phone number or a user id. */
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
  address: whatsappAddress,
  alike(address: string): Alike {
    const other = otherForm(address);
    return { same: other === null ? [] : [other], possible: ivorianForms(address) };
  },
  addressError:
    "must be a phone number with its country's code, or a WhatsApp user id. A number has 7 to 15 digits, no 0 at its start and no (0)",
  renderingOf: whatsappRendering,
  takes: takenByWhatsApp,
  // Meta wants Opus in an OGG file.
  takesVoice: (type: string | null) => type !== null && /^audio\/(?:ogg|opus)$/.test(type),
};

/** What WhatsApp takes as media that it shows. It takes documents of up to 100 MB. */
const LIMITS = {
  IMAGE: { types: /^image\/(?:jpeg|png)$/, named: "a JPEG or PNG", mebibytes: 5 },
  VIDEO: { types: /^video\/(?:mp4|3gpp)$/, named: "an MP4 or 3GP", mebibytes: 16 },
  AUDIO: { types: /^audio\/(?:aac|amr|mpeg|mp4|ogg|opus)$/, named: "an AAC, AMR, MP3, M4A or OGG", mebibytes: 16 },
};

/**
 * Why WhatsApp does not take a file as this type; null if it does.
 * @see https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#supported-media-types
 */
export function takenByWhatsApp({ contentType, size }: FileInfo, type: MediaType): string | null {
  if (type === "DOCUMENT") return null;
  const { types, named, mebibytes } = LIMITS[type];
  const name = `${type === "VIDEO" ? "a" : "an"} ${type} on WhatsApp`;
  if (!types.test(contentType)) return `must be ${named} to be ${name}`;
  return size > mebibytes * MEBIBYTE ? `must have at most ${mebibytes} MB to be ${name}` : null;
}
