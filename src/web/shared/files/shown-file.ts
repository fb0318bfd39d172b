import { isPicture } from "./picture.ts";

/** What a browser can do with a file. */
export type FileKind = "picture" | "video" | "audio" | "other";

/** A file. `size` is in bytes. The sides are those of a picture. All three are null if they are unknown. */
export interface ShownFile {
  name: string;
  kind: FileKind;
  size: number | null;
  width: number | null;
  height: number | null;
}

/** @param type the content type */
export function fileKindOf(type: string): FileKind {
  if (isPicture(type)) return "picture";
  if (/^video\/(mp4|webm)$/.test(type)) return "video";
  return /^audio\/(mpeg|ogg|mp4|wav|webm|aac)$/.test(type) ? "audio" : "other";
}
