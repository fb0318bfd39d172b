import type { FileInfo } from "../../model/file.ts";
import { MEBIBYTE, type MediaType } from "../../model/file.ts";

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
