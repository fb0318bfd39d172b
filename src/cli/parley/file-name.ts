/** File systems count bytes; some room is left for a prefix. */
const MAX_BYTES = 200;
/** A name that no system takes for a path, an option or a hidden file, and that shows what it is. */
const UNSAFE = /[/\\<>:"|?*\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\ufeff\ufffd]/gu;
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * A name for a file in a folder, made of what its sender called it.
 * @param name untrusted; null if the file has none
 * @param fallback the name if nothing of it is left: safe, without an extension
 */
export function safeFileName(name: string | null, fallback: string, contentType: string | null): string {
  const clean = (name ?? "")
    .toWellFormed()
    .replace(UNSAFE, "_")
    .replace(/^[.\-\s]+|[.\s]+$/g, "");
  if (clean === "") return `${fallback}${extensionOf(contentType)}`;
  const [, stem = clean, extension = ""] = /^(.*?)(\.[^.]{1,15})?$/s.exec(clean) ?? [];
  const short = shortened(stem, MAX_BYTES - Buffer.byteLength(extension));
  return `${RESERVED.test(clean) ? "_" : ""}${short}${extension}`;
}

/** The longest beginning with at most this many bytes that does not split a character. */
function shortened(text: string, bytes: number): string {
  let length = 0;
  let kept = "";
  for (const { segment } of new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text)) {
    length += Buffer.byteLength(segment);
    if (length > bytes) break;
    kept += segment;
  }
  return kept;
}

const EXTENSIONS: Record<string, string> = {
  "image/jpeg": ".jpg",
  "image/png": ".png",
  "image/gif": ".gif",
  "image/webp": ".webp",
  "video/mp4": ".mp4",
  "video/3gpp": ".3gp",
  "video/webm": ".webm",
  "audio/mpeg": ".mp3",
  "audio/ogg": ".ogg",
  "audio/mp4": ".m4a",
  "audio/amr": ".amr",
  "application/pdf": ".pdf",
  "application/x-tgsticker": ".tgs",
  "text/plain": ".txt",
};

function extensionOf(contentType: string | null): string {
  return EXTENSIONS[contentType?.split(";")[0]?.trim().toLowerCase() ?? ""] ?? "";
}
