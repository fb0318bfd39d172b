import type { FileInfo } from "../../files/file.ts";
import type { MediaType } from "../files.ts";

/** Sound alone is often in a container of videos: what a browser records, for example. */
const SHOWN = { IMAGE: /^image\//, AUDIO: /^(?:audio|video)\//, VIDEO: /^(?:audio|video)\// };

/** Why a visitor's page does not show a file as this type; null if it does. It takes files of any size. */
export function takenByPage({ contentType }: FileInfo, type: MediaType): string | null {
  return type === "DOCUMENT" || SHOWN[type].test(contentType) ? null : `is no ${type.toLowerCase()}`;
}
