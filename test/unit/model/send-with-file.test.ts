import { expect, test } from "vitest";
import { extraOf, sendBody } from "../../../src/model/message.ts";

type Fields = Record<string, unknown>;

/** What a send with these fields is refused for: `path: message`. Empty if it is valid. */
function faultsOf(fields: Fields): string[] {
  const { error } = sendBody.safeParse({ content: "Which one?", ...fields });
  return error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? [];
}

const mediaId = "fil_1";
const mediaUrl = "https://a.example/b.ogg";
const location = { latitude: 52.52, longitude: 13.405 };
const contacts = [{ name: "Maya", phones: ["1"] }];
const interactive = { choices: [{ type: "reply", id: "a", title: "A" }] };
const VOICE = "voice: can be given with the type AUDIO only";
const MEDIA_TYPE = "type: must be a type of media with mediaId";

test.each<[string, Fields]>([
  ["a file that chooses the type", { mediaId }],
  ["a file of each type", { mediaId, type: "DOCUMENT" }],
  ["a file above choices", { mediaId, interactive }],
  ["a file above choices without a header, with a type", { mediaId, interactive, type: "IMAGE" }],
  ["a link that is the text above choices, without media", { mediaUrl, interactive, content: mediaUrl }],
  ["a long text without choices", { content: "x".repeat(1_025) }],
  ["a template with values for its parts", { templateId: "t", template: {} }],
  ["a voice note from a link", { voice: true, type: "AUDIO", mediaUrl }],
  ["a voice note from a file", { voice: true, type: "AUDIO", mediaId }],
  ["a voice note from a file that chooses the type", { voice: true, mediaId }],
  ["an image that is not a voice note", { voice: false, type: "IMAGE", mediaId }],
])("%s may be sent", (_what, fields) => {
  expect(faultsOf(fields)).toEqual([]);
});

test.each<[Fields, ...string[]]>([
  [{ template: {} }, "template: can't be given without templateId"],
  [{ voice: true }, VOICE],
  [{ voice: true, type: "TEXT" }, VOICE],
  [{ voice: true, type: "VIDEO", mediaId }, VOICE],
  [{ voice: true, type: "VIDEO", mediaUrl }, VOICE],
  [{ voice: "yes" }, "voice: must be true or false"],
  [{ mediaId, mediaUrl }, "mediaUrl: can't be given with mediaId"],
  [{ mediaId, templateId: "t" }, "mediaId: can't be given with templateId"],
  [{ mediaId, type: "TEXT" }, MEDIA_TYPE],
  [{ mediaId, type: "TEMPLATE" }, MEDIA_TYPE],
  [{ mediaId, location }, "mediaId: can't be given with location"],
  [{ mediaId, contacts }, "mediaId: can't be given with contacts"],
  [{ mediaId, interactive, content: ` ${mediaId}` }, "content: must be the text above the choices, not the media"],
  [
    { mediaId, interactive: { ...interactive, header: "H" } },
    "interactive.header: can't be given with media, which stands in its place",
  ],
])("%j is refused", (fields, ...faults) => {
  expect(faultsOf(fields)).toEqual(faults);
});

test("a fault between the fields has the path of the field, also of one inside another", () => {
  const fields = { content: "x", mediaId, interactive: { ...interactive, header: "H" } };
  expect(sendBody.safeParse(fields).error?.issues[0]?.path).toEqual(["interactive", "header"]);
});

test.each([
  [true, true],
  [false, undefined],
  [null, undefined],
  [undefined, undefined],
])("voice %j of a send is read as %j", (voice, expected) => {
  expect(sendBody.parse({ content: "x", type: "AUDIO", voice }).voice).toBe(expected);
});

test("a message keeps that it was to be a voice note, also if it did not go out as one", () => {
  expect(extraOf({ voice: true })).toEqual({ voice: true });
  expect(extraOf({ voice: false })).toEqual({ voice: true });
  expect(extraOf({})).toBeUndefined();
});

test("what a message says besides text is kept in one order", () => {
  const template = { header: { mediaId } };
  const given = { voice: true, template, replyTo: "msg_1", contacts, location, interactive: { choices: [] } };
  expect(Object.keys(extraOf(given) ?? {})).toEqual([
    "interactive",
    "location",
    "contacts",
    "replyTo",
    "template",
    "voice",
  ]);
  expect(extraOf(given)).toEqual(given);
});
