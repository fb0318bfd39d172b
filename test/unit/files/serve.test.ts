import { expect, test } from "vitest";
import { fileHeaders } from "../../../src/files/serve.ts";

const SHOWN = [
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
  "video/mp4",
  "video/webm",
  "audio/mpeg",
  "audio/ogg",
];
const SAVED = [
  "image/svg+xml",
  "image/svg",
  "image/heic",
  "image/avif",
  "text/html",
  "text/plain",
  "text/xml",
  "application/pdf",
  "application/xhtml+xml",
  "application/octet-stream",
  "video/quicktime",
  "video/ogg",
  "audio/mp4",
  "audio/webm",
  "image/png; charset=utf-7",
  "IMAGE/PNG",
  "",
];

test.each([...SHOWN.map((type) => [type, "inline"]), ...SAVED.map((type) => [type, "attachment"])])(
  "%s is %s, and never runs",
  (type, disposition) => {
    const headers = Object.fromEntries(fileHeaders(type, null, "med_1"));
    expect(headers).toMatchObject({
      "content-type": type,
      "content-disposition": disposition,
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    });
  },
);

test.each([
  "text/javascript",
  "application/javascript",
  "text/jscript",
  "text/javascript1.5",
  "application/x-ecmascript",
  "text/css",
])("%s goes out as a text: a page of the same origin can't load it", (type) => {
  const headers = fileHeaders(type, null, "med_1");
  expect(headers.get("Content-Type")).toBe("text/plain");
  expect(headers.get("Content-Disposition")).toBe("attachment");
});

test.each([
  ["plan.pdf", "plan.pdf"],
  ['Über "uns"; a=b.pdf', "%C3%9Cber%20%22uns%22%3B%20a%3Db.pdf"],
  ["it's (1)*.pdf", "it%27s%20%281%29%2a.pdf"],
  ["a\r\nX: y", "a%0D%0AX%3A%20y"],
  ["half \ud83d", "half%20%EF%BF%BD"],
  ["x".repeat(300), "x".repeat(255)],
])("the name %j is written so that it ends where it ends", (name, written) => {
  expect(fileHeaders("application/pdf", name, "med_1").get("Content-Disposition")).toBe(
    `attachment; filename*=UTF-8''${written}`,
  );
});
