import { expect, test } from "vitest";
import { typeOfBytes } from "../../../src/files/sniff.ts";

const bytes = (text: string) => Uint8Array.from([...text].map((char) => char.charCodeAt(0)));

test.for<[head: string, type: string]>([
  ["\x89PNG\r\n\x1a\n", "image/png"],
  ["\xff\xd8\xff\xe1", "image/jpeg"],
  ["GIF89a", "image/gif"],
  ["RIFF\0\0\0\0WEBPVP8 ", "image/webp"],
  ["RIFF\0\0\0\0WAVEfmt ", "audio/wav"],
  ["%PDF-1.7", "application/pdf"],
  ["\0\0\0\x18ftypisom", "video/mp4"],
  ["\0\0\0\x18ftyp3gp5", "video/3gpp"],
  ["\0\0\0\x18ftypqt  ", "video/quicktime"],
  ["\0\0\0\x18ftypM4A ", "audio/mp4"],
  ["\0\0\0\x18ftypheic", "image/heic"],
  ["\0\0\0\x18ftypavif", "image/avif"],
  ["\x1a\x45\xdf\xa3", "video/webm"],
  ["OggS\0", "audio/ogg"],
  ["ID3\x04", "audio/mpeg"],
  ["\xff\xfb\x90", "audio/mpeg"],
  ["\xff\xf1\x50", "audio/aac"],
  ["fLaC", "audio/flac"],
  ["#!AMR\n", "audio/amr"],
  ["PK\x03\x04", "application/zip"],
  ["\x1f\x8b\x08", "application/gzip"],
])("%j is %s, whatever the client knows", ([head, type]) => {
  expect(typeOfBytes(bytes(head), "application/octet-stream")).toEqual({ type });
  expect(typeOfBytes(bytes(head), type)).toEqual({ type });
  expect(typeOfBytes(bytes(head), "text/plain").type).toBeNull();
});

test.for(["", "application/x-www-form-urlencoded", "binary/octet-stream", "application/x-binary"])(
  "the Content-Type %j says nothing, so the bytes decide",
  (declared) => {
    expect(typeOfBytes(bytes("%PDF-1.7"), declared)).toEqual({ type: "application/pdf" });
    expect(typeOfBytes(bytes("words"), declared)).toEqual({ type: "application/octet-stream" });
  },
);

test.for<[head: string, type: string]>([
  ["\x89PNG\r\n\x1a\n", "image/jpeg"],
  ["<svg>", "image/png"],
  ["<html>", "video/mp4"],
  ["words", "audio/mpeg"],
  ["words", "application/pdf"],
  ["words", "application/zip"],
  ["PK\x03\x04", "image/png"],
  ["PK\x03\x04", "application/pdf"],
  ["words", "not a type"],
  ["words", "text/plain\r\nX: y"],
  ["words", "multipart/form-data"],
  ["words", "multipart/mixed"],
])("%j is not %s", ([head, type]) => {
  expect(typeOfBytes(bytes(head), type).type).toBeNull();
});

test.for([
  ["words", "text/plain", "text/plain"],
  ["<svg>", "image/svg+xml", undefined],
  ["\xef\xbb\xbf\n<?xml version=", "image/svg+xml", undefined],
  ["words", "image/svg+xml", null],
  ["\x89PNG\r\n\x1a\n", "image/svg+xml", null],
  ["{}", "application/json", "application/json"],
  ["\xff\xd8\xff\xe1", "image/jpg", "image/jpeg"],
  ["ID3\x04", "audio/mp3", "audio/mpeg"],
  ["\x1a\x45\xdf\xa3", "audio/webm", "audio/webm"],
  ["OggS\0", "audio/ogg", "audio/ogg"],
  ["OggS\0", "video/ogg", "video/ogg"],
  ["\x1f\x8b\x08", "application/x-tgsticker", "application/x-tgsticker"],
  ["PK\x03\x04", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", undefined],
] as const)("%j as %s", ([head, declared, type]) => {
  expect(typeOfBytes(bytes(head), declared).type).toBe(type === undefined ? declared : type);
});
