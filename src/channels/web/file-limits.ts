import type { FileInfo, MediaType } from "../../model/file.ts";

/**
 * The pictures that every browser shows. Sound alone is often in a container of videos: what a browser records, for
 * example.
 */
const SHOWN = { IMAGE: /^image\/(?:jpeg|png|gif|webp)$/, AUDIO: /^(?:audio|video)\//, VIDEO: /^(?:audio|video)\// };

const NOT_SHOWN = {
  IMAGE: "must be a JPEG, PNG, GIF or WebP to be an IMAGE on a web chat",
  AUDIO: "is not an audio file",
  VIDEO: "is not a video",
};

/** Why a visitor's page does not show a file as this type; null if it does. It takes files of any size. */
export function takenByPage({ contentType }: FileInfo, type: MediaType): string | null {
  return type === "DOCUMENT" || SHOWN[type].test(contentType) ? null : NOT_SHOWN[type];
}
