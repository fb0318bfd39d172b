import { expect, test } from "vitest";
import { takenByWhatsApp, whatsappSpec } from "../../../../src/channels/whatsapp/spec.ts";
import { MEBIBYTE, type MediaType } from "../../../../src/model/file.ts";

const DIGITS = "must be 1 to 32 digits";
const secret = "a-secret-of-this-test";

/** The faults of the credentials, with their fields. */
function faultsOf(fields: object): string[] {
  const given = { phoneNumberId: "106", accessToken: secret, appSecret: secret, ...fields };
  const { error } = whatsappSpec.credentials.safeParse(given);
  return error?.issues.map(({ path, message }) => `${path.join(".")} ${message}`) ?? [];
}

test.each<[unknown, string[]]>([
  ["1", []],
  ["1".repeat(32), []],
  [" 106\n", []],
  ["1".repeat(33), [`phoneNumberId ${DIGITS}`]],
  ["10a", [`phoneNumberId ${DIGITS}`]],
  ["a10", [`phoneNumberId ${DIGITS}`]],
  ["1 0", [`phoneNumberId ${DIGITS}`]],
  ["+49", [`phoneNumberId ${DIGITS}`]],
])("a channel with the number's id %j has the faults %j", (phoneNumberId, faults) => {
  expect(faultsOf({ phoneNumberId })).toEqual(faults);
});

test("a number's id is stored without the white space around it", () => {
  const given = { phoneNumberId: "  106\n", accessToken: secret, appSecret: secret };
  expect(whatsappSpec.credentials.parse(given)).toEqual({ ...given, phoneNumberId: "106" });
});

test.each(["phoneNumberId", "accessToken", "appSecret"])("a channel needs its %s", (field) => {
  expect(faultsOf({ [field]: undefined })).toEqual([expect.stringContaining(field)]);
});

test.each<[unknown, string[]]>([
  ["102290129340398", []],
  ["1".repeat(32), []],
  [undefined, []],
  ["1".repeat(33), [DIGITS]],
  ["", [DIGITS]],
  ["10a", [DIGITS]],
  ["a10", [DIGITS]],
])("settings with the account %j have the faults %j", (wabaId, faults) => {
  const issues = whatsappSpec.settings.safeParse({ wabaId }).error?.issues ?? [];
  expect(issues.map(({ message }) => message)).toEqual(faults);
});

test("a channel sends 80 messages in a second, unless its settings say otherwise", () => {
  expect(whatsappSpec.defaults).toEqual({ perSecond: 80 });
});

test.each([
  ["49151", { same: [], possible: [] }],
  ["5511987654321", { same: ["551187654321"], possible: [] }],
  ["5491123456789", { same: ["541123456789"], possible: [] }],
  ["22501020304", { same: [], possible: ["2250101020304", "2250501020304", "2250701020304"] }],
  ["5215512345678", { same: ["525512345678"], possible: [] }],
])("the address %s is like %j", (address, alike) => {
  expect(whatsappSpec.alike(address)).toEqual(alike);
});

test.each(["audio/ogg", "audio/opus"])("%s can be a voice note", (type) => {
  expect(whatsappSpec.takesVoice(type)).toBe(true);
});

test.each([null, "audio/mpeg", "audio/oggx", "xaudio/ogg", "video/ogg"])("%s can't be a voice note", (type) => {
  expect(whatsappSpec.takesVoice(type)).toBe(false);
});

const taken = (type: MediaType, contentType: string, size = 1) => takenByWhatsApp({ contentType, size } as never, type);

test.each<[MediaType, string]>([
  ...["image/jpeg", "image/png"].map((type): [MediaType, string] => ["IMAGE", type]),
  ...["video/mp4", "video/3gpp"].map((type): [MediaType, string] => ["VIDEO", type]),
  ...["aac", "amr", "mpeg", "mp4", "ogg", "opus"].map((type): [MediaType, string] => ["AUDIO", `audio/${type}`]),
  ["DOCUMENT", "text/html"],
])("WhatsApp takes as %s a file of type %s, and none whose type only begins or ends like it", (type, contentType) => {
  expect(taken(type, contentType)).toBeNull();
  if (type === "DOCUMENT") return;
  for (const other of [`${contentType}x`, `x${contentType}`]) expect(taken(type, other)).toEqual(expect.any(String));
});

test.each<[MediaType, string, string]>([
  ["IMAGE", "image/gif", "must be a JPEG or PNG to be an IMAGE on WhatsApp"],
  ["VIDEO", "video/webm", "must be an MP4 or 3GP to be a VIDEO on WhatsApp"],
  ["AUDIO", "audio/flac", "must be an AAC, AMR, MP3, M4A or OGG to be an AUDIO on WhatsApp"],
])("%s of type %s %s", (type, contentType, fault) => {
  expect(taken(type, contentType)).toBe(fault);
});

test.each<[MediaType, string, number, string]>([
  ["IMAGE", "image/png", 5, "must have at most 5 MB to be an IMAGE on WhatsApp"],
  ["VIDEO", "video/mp4", 16, "must have at most 16 MB to be a VIDEO on WhatsApp"],
  ["AUDIO", "audio/ogg", 16, "must have at most 16 MB to be an AUDIO on WhatsApp"],
])("%s of type %s may have %i MB, and else %s", (type, contentType, mebibytes, fault) => {
  expect(taken(type, contentType, mebibytes * MEBIBYTE)).toBeNull();
  expect(taken(type, contentType, mebibytes * MEBIBYTE + 1)).toBe(fault);
});

test("the size of a document is not WhatsApp's to bound", () => {
  expect(taken("DOCUMENT", "application/pdf", 1_000 * MEBIBYTE)).toBeNull();
});
