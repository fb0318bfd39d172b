/** What is known of an uploaded file. `contentType` is what its first bytes say. Only images and videos have sides. */
export interface FileInfo {
  contentType: string;
  /** In bytes. */
  size: number;
  fileName: string | null;
  /** In pixels, as it is shown; null if it has none, or they are unknown. */
  width: number | null;
  height: number | null;
}

/** The types of messages with media. */
export type MediaType = "IMAGE" | "DOCUMENT" | "AUDIO" | "VIDEO";

/** An uploaded file that a message sends. */
export interface OutboundFile extends FileInfo {
  id: string;
}

/** The media that a message shows: a link, or an uploaded file. */
export type MediaSource = { link: string } | { file: OutboundFile };

/** The error code of a message whose file is gone. It is refused without calling the network. */
export const MEDIA_GONE = "media_gone";
/** The error code while a file can't be read. */
export const MEDIA_AWAY = "media_away";
/** The error code of an attempt that ended before the whole file was sent. */
export const MEDIA_INTERRUPTED = "media_interrupted";

export const MEBIBYTE = 1_024 * 1_024;
/** The largest file, in bytes. */
export const MAX_FILE_BYTES = 16 * MEBIBYTE;
/** The longest name of a file, in characters. */
export const MAX_FILE_NAME = 255;

/** The message type for each family of content types. Files of other families are documents. */
const TYPES = new Map<string, MediaType>([
  ["image", "IMAGE"],
  ["audio", "AUDIO"],
  ["video", "VIDEO"],
]);

/** The richest message type that a channel accepts for a file. Every channel accepts documents. */
export function typeOfFile(
  file: FileInfo,
  { takes }: { takes: (file: FileInfo, type: MediaType) => string | null },
): MediaType {
  const family = file.contentType.slice(0, file.contentType.indexOf("/"));
  const type = TYPES.get(family);
  return type !== undefined && takes(file, type) === null ? type : "DOCUMENT";
}

/** The file extensions that differ from the name of their content type. */
const ENDINGS = new Map([
  ["image/jpeg", "jpg"],
  ["audio/mpeg", "mp3"],
  ["audio/mp4", "m4a"],
  ["video/3gpp", "3gp"],
  ["text/plain", "txt"],
]);

/** What no file name has: slashes, which make it a path, and characters that change how others are shown. */
const NOT_IN_A_NAME = /[/\\\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;

/** Whether a name is a file's alone: neither a path, nor shown as another name. */
export function isPlainFileName(name: string): boolean {
  return !NOT_IN_A_NAME.test(name) && !/^\.{1,2}$/.test(name);
}

/** A file's name, for a network that shows the name and derives the file's type from it. */
export function sentNameOf({ fileName, contentType }: Pick<FileInfo, "fileName" | "contentType">): string {
  if (fileName !== null && fileName !== "") return fileName;
  const ending = ENDINGS.get(contentType) ?? /^\w+\/(\w{3,4})$/.exec(contentType)?.[1];
  return ending === undefined ? "file" : `file.${ending}`;
}
