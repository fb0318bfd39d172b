import { expect, test } from "vitest";
import { takenByPage, webSpec } from "../../../../src/channels/web/spec.ts";
import type { MediaType } from "../../../../src/model/file.ts";

const NO_PICTURE = "must be a JPEG, PNG, GIF or WebP to be an IMAGE on a web chat";

test.each<[MediaType, string, string | null]>([
  ["IMAGE", "image/webp", null],
  ["IMAGE", "ximage/png", NO_PICTURE],
  ["IMAGE", "image/pngx", NO_PICTURE],
  ["AUDIO", "audio/ogg", null],
  ["AUDIO", "video/webm", null],
  ["AUDIO", "application/pdf", "is not an audio file"],
  ["AUDIO", "xaudio/ogg", "is not an audio file"],
  ["VIDEO", "video/mp4", null],
  ["VIDEO", "audio/mp4", null],
  ["VIDEO", "image/gif", "is not a video"],
  ["VIDEO", "xvideo/mp4", "is not a video"],
  ["DOCUMENT", "text/html", null],
])("the page's answer to %s of the type %s is %j", (type, contentType, refusal) => {
  const file = { contentType, size: 2 ** 40, width: 100_000, height: 1, fileName: null };
  expect(takenByPage(file, type)).toBe(refusal);
});

test.each([
  ["user-7", "user-7"],
  ["user web_7", "user web_7"],
  ["web_7", null],
  ["\ud83d", null],
])("the address of %j on a web chat is %j", (text, address) => {
  expect(webSpec.address(text)).toBe(address);
});
