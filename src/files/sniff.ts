/** How many bytes `sniff` looks at. */
export const SNIFFED_BYTES = 64;

/** Types whose files begin as no other ones do: bytes that are not so are not of this type. */
const ISO_MEDIA: [brand: RegExp, type: string][] = [
  [/^3g/, "video/3gpp"],
  [/^qt/, "video/quicktime"],
  [/^M4A|^M4B/, "audio/mp4"],
  [/^(?:heic|heix|hevc|mif1|msf1)/, "image/heic"],
  [/^avi[fs]/, "image/avif"],
  [/^(?:iso|mp4|avc1|M4V|dash|MSNV|f4v)/, "video/mp4"],
];

/** Other names of a type, and types that share a container. The first name is the one that is kept. */
const SAME: readonly (readonly string[])[] = [
  ["image/jpeg", "image/jpg", "image/pjpeg"],
  ["audio/mpeg", "audio/mp3", "audio/x-mpeg"],
  ["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"],
  ["audio/aac", "audio/x-aac", "audio/aacp"],
  ["audio/flac", "audio/x-flac"],
  ["audio/mp4", "audio/x-m4a", "audio/m4a"],
  ["application/gzip", "application/x-gzip"],
  ["application/zip", "application/x-zip-compressed"],
];

/** What a container may also be called, if its client says so. */
const CONTAINED: Record<string, RegExp> = {
  "application/ogg": /^(?:audio|video)\/(?:ogg|opus)$/,
  "video/webm": /^audio\/webm$/,
  "video/mp4": /^audio\/mp4$/,
  "image/heic": /^image\/hei[cf](?:-sequence)?$/,
  "application/zip":
    /^application\/(?:vnd\.openxmlformats-officedocument\.[\w.-]+|vnd\.oasis\.opendocument\.[\w.-]+|epub\+zip|java-archive|vnd\.android\.package-archive|vnd\.ms-(?:excel|word|powerpoint)[\w.-]*)$/,
  "application/gzip": /^application\/(?:x-tgsticker|x-tar|x-compressed-tar)$/,
};

/** What a file begins with, as bytes; `null` is any byte. */
const BEGINNINGS: [bytes: string, type: string][] = [
  ["89 50 4e 47 0d 0a 1a 0a", "image/png"],
  ["ff d8 ff", "image/jpeg"],
  ["47 49 46 38 37 61", "image/gif"],
  ["47 49 46 38 39 61", "image/gif"],
  ["52 49 46 46 . . . . 57 45 42 50", "image/webp"],
  ["52 49 46 46 . . . . 57 41 56 45", "audio/wav"],
  ["25 50 44 46 2d", "application/pdf"],
  ["50 4b 03 04", "application/zip"],
  ["50 4b 05 06", "application/zip"],
  ["1f 8b 08", "application/gzip"],
  ["1a 45 df a3", "video/webm"],
  ["4f 67 67 53 00", "application/ogg"],
  ["49 44 33 02", "audio/mpeg"],
  ["49 44 33 03", "audio/mpeg"],
  ["49 44 33 04", "audio/mpeg"],
  ["66 4c 61 43", "audio/flac"],
  ["23 21 41 4d 52", "audio/amr"],
];

/** The types that only the first bytes prove, so that no other bytes pass for them. */
const PROVEN = /^(?:image|audio|video)\/|^application\/(?:pdf|zip|gzip|ogg|epub\+zip|x-tgsticker|vnd\.openxml)/;
/** What its client does not know. */
const UNKNOWN = "application/octet-stream";
/** What HTTP clients say without a type: curl and Python's urllib send a body as the last one. */
const SAYS_NOTHING = ["", "binary/octet-stream", "application/x-binary", "application/x-www-form-urlencoded"];
/** A body with boundaries around the file, which would be stored with it. */
const FORM = /^multipart\//;
/** A picture that is a text. It is only ever a download. */
const SVG = "image/svg+xml";
const XML = /^(?:\u00ef\u00bb\u00bf)?\s*<[?!s]/;
const TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;

/**
 * The type of a file. Its first bytes decide: the type that they prove must be the one that the client says, and
 * pictures, sounds and videos must be proven. A text proves nothing, so it has the type that the client says.
 * @param head the first bytes, at least 64 of them if there are as many
 * @param declared the `Content-Type`, without parameters and in lower case
 * @returns null if the bytes are not what the client says; `found` is what they are, null if they prove nothing
 */
export function typeOfBytes(
  head: Uint8Array,
  declared: string,
): { type: string } | { type: null; found: string | null } {
  const found = sniff(head);
  const said = SAYS_NOTHING.includes(declared) ? UNKNOWN : declared;
  const named = SAME.find((names) => names.includes(said))?.[0] ?? said;
  if (!TYPE.test(named) || FORM.test(named)) return { type: null, found };
  if (named === UNKNOWN) return { type: found === "application/ogg" ? "audio/ogg" : (found ?? UNKNOWN) };
  if (found === named) return { type: named };
  if (named === SVG) return XML.test(textOf(head)) && found === null ? { type: named } : { type: null, found };
  if (found === null) return PROVEN.test(named) ? { type: null, found } : { type: named };
  return CONTAINED[found]?.test(named) ? { type: named } : { type: null, found };
}

/** The type that the first bytes prove; null if they prove none. */
function sniff(head: Uint8Array): string | null {
  const hex = head.subarray(0, SNIFFED_BYTES).toHex();
  const known = BEGINNINGS.find(([bytes]) =>
    new RegExp(`^${bytes.replaceAll(".", "..").replaceAll(" ", "")}`).test(hex),
  );
  if (known) return known[1];
  const text = textOf(head);
  if (text.slice(4, 8) === "ftyp")
    return ISO_MEDIA.find(([brand]) => brand.test(text.slice(8, 12)))?.[1] ?? "video/mp4";
  const [first = 0, second = 0] = head;
  // MPEG audio without tags, then AAC: a frame begins with eleven or twelve set bits.
  if (first === 0xff && (second & 0xf6) === 0xf0) return "audio/aac";
  if (first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0) return "audio/mpeg";
  return null;
}

function textOf(head: Uint8Array): string {
  return new TextDecoder("latin1").decode(head.subarray(0, SNIFFED_BYTES));
}
