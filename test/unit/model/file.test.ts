import { expect, test } from "vitest";
import { KINDS } from "../../../src/channels/kinds.ts";
import {
  type FileInfo,
  isPlainFileName,
  MAX_FILE_BYTES,
  MEBIBYTE,
  MEDIA_AWAY,
  MEDIA_GONE,
  MEDIA_INTERRUPTED,
  type MediaType,
  sentNameOf,
  typeOfFile,
} from "../../../src/model/file.ts";

function file(contentType: string, fields: Partial<FileInfo> = {}): FileInfo {
  return { contentType, size: 1_000, fileName: null, width: null, height: null, ...fields };
}

const mb = (count: number, more = 0) => ({ size: count * MEBIBYTE + more });
const sides = (width: number, height: number) => ({ width, height });

test.each<[keyof typeof KINDS, MediaType, FileInfo, RegExp | null]>([
  ["whatsapp", "IMAGE", file("image/jpeg", mb(5)), null],
  ["whatsapp", "IMAGE", file("image/png", mb(5, 1)), /at most 5 MB/],
  ["whatsapp", "IMAGE", file("image/webp"), /must be a JPEG or PNG/],
  ["whatsapp", "IMAGE", file("image/png", sides(30_000, 30_000)), null],
  ["whatsapp", "VIDEO", file("video/mp4", mb(16)), null],
  ["whatsapp", "VIDEO", file("video/3gpp", mb(16, 1)), /at most 16 MB/],
  ["whatsapp", "VIDEO", file("video/webm"), /must be an MP4 or 3GP/],
  ["whatsapp", "AUDIO", file("audio/ogg", mb(16)), null],
  ["whatsapp", "AUDIO", file("audio/mpeg", mb(16, 1)), /at most 16 MB/],
  ["whatsapp", "AUDIO", file("audio/wav"), /must be an AAC/],
  ["whatsapp", "AUDIO", file("video/mp4"), /must be an AAC/],
  ["whatsapp", "DOCUMENT", file("application/zip", mb(16)), null],
  ["telegram", "IMAGE", file("image/jpeg", { ...mb(10), ...sides(5_000, 5_000) }), null],
  ["telegram", "IMAGE", file("image/jpeg", mb(10, 1)), /at most 10 MB/],
  ["telegram", "IMAGE", file("image/png", sides(5_000, 5_001)), /10,000 pixels/],
  ["telegram", "IMAGE", file("image/png", sides(2_000, 100)), null],
  ["telegram", "IMAGE", file("image/png", sides(100, 2_001)), /20 times/],
  ["telegram", "IMAGE", file("image/gif"), /must be a JPEG/],
  ["telegram", "IMAGE", file("application/pdf"), /must be a JPEG/],
  ["telegram", "AUDIO", file("audio/ogg", mb(16)), null],
  ["telegram", "AUDIO", file("video/mp4"), /is not an audio file/],
  ["telegram", "VIDEO", file("video/mp4", mb(16)), null],
  ["telegram", "VIDEO", file("image/gif"), /is not a video/],
  ["telegram", "DOCUMENT", file("application/octet-stream", mb(16)), null],
  ["web", "IMAGE", file("image/gif", { ...mb(16), ...sides(30_000, 1) }), null],
  ["web", "IMAGE", file("application/pdf"), /must be a JPEG, PNG, GIF or WebP/],
  ["web", "IMAGE", file("image/svg+xml"), /must be a JPEG, PNG, GIF or WebP/],
  ["web", "AUDIO", file("video/webm"), null],
  ["web", "VIDEO", file("image/gif"), /is not a video/],
  ["web", "DOCUMENT", file("text/html"), null],
])("%s, %s, %o: %s", (kind, type, info, refusal) => {
  const answer = KINDS[kind].takes(info, type);
  if (refusal) expect(answer).toMatch(refusal);
  else expect(answer).toBeNull();
});

test.each<[keyof typeof KINDS, FileInfo, MediaType]>([
  ["whatsapp", file("image/jpeg"), "IMAGE"],
  ["whatsapp", file("image/jpeg", mb(5, 1)), "DOCUMENT"],
  ["whatsapp", file("image/gif"), "DOCUMENT"],
  ["whatsapp", file("video/mp4"), "VIDEO"],
  ["whatsapp", file("audio/ogg"), "AUDIO"],
  ["whatsapp", file("audio/wav"), "DOCUMENT"],
  ["telegram", file("image/png"), "IMAGE"],
  ["telegram", file("image/png", sides(9_999, 2)), "DOCUMENT"],
  ["telegram", file("image/gif"), "DOCUMENT"],
  ["telegram", file("video/webm"), "VIDEO"],
  ["web", file("image/webp"), "IMAGE"],
  ["web", file("audio/wav"), "AUDIO"],
  ["web", file("application/pdf"), "DOCUMENT"],
  ["web", file("constructor/x"), "DOCUMENT"],
  ["web", file(""), "DOCUMENT"],
])("the richest type of %s for %o is %s", (kind, info, type) => {
  expect(typeOfFile(info, KINDS[kind])).toBe(type);
});

test.each([
  ["Plan.PDF", "application/pdf", "Plan.PDF"],
  [null, "application/pdf", "file.pdf"],
  [null, "image/jpeg", "file.jpg"],
  [null, "audio/mpeg", "file.mp3"],
  ["", "image/webp", "file.webp"],
  [null, "audio/mp4", "file.m4a"],
  [null, "video/3gpp", "file.3gp"],
  [null, "text/plain", "file.txt"],
  [null, "audio/aac", "file.aac"],
  [null, "application/js", "file"],
  [null, "audio/x-wav", "file"],
  [null, "x-a/pdf", "file"],
  [null, "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "file"],
  [null, "application/octet-stream", "file"],
])("a file with the name %j of the type %s goes out as %s", (fileName, contentType, name) => {
  expect(sentNameOf({ fileName, contentType })).toBe(name);
});

test("the errors of a message's file are those that stored messages have", () => {
  expect([MEDIA_GONE, MEDIA_AWAY, MEDIA_INTERRUPTED]).toEqual(["media_gone", "media_away", "media_interrupted"]);
});

test("the largest file has 16 MiB", () => {
  expect(MAX_FILE_BYTES).toBe(16_777_216);
});

test.each(["Plan.pdf", ".env", "...", "a..", "..a", "Résumé 🙂.pdf", "a\u200db", " "])(
  "%j is a file's name",
  (name) => {
    expect(isPlainFileName(name)).toBe(true);
  },
);

test.each([".", "..", "a/b", "../a", "a\\b", "a\0b", "a\nb", "a\u202egnp.exe", "a\u2066b", "a\u2028b", "a\u2029b"])(
  "%j is not a file's name: it is a path, or is shown as another name",
  (name) => {
    expect(isPlainFileName(name)).toBe(false);
  },
);
