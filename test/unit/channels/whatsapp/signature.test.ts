import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { whatsapp } from "../../../../src/channels/whatsapp/adapter.ts";
import { handshake } from "../../../../src/channels/whatsapp/webhook.ts";
import { APP_SECRET, callOf, credentials, signatureOf, webhook } from "./network.ts";

const FORGED = { genuine: false };
const hello = callOf({ messages: [{ from: "4915112345678", id: "wamid.1", type: "text", text: { body: "Hi" } }] });
const greeting = callOf({
  messages: [{ from: "49151", id: "wamid.2", type: "text", text: { body: "Grüße äöå 😀 中" } }],
});

function escaped(text: string): string {
  return text
    .split("")
    .map((unit) => (unit < "\u0080" ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`))
    .join("");
}

function receive(body: string | Uint8Array<ArrayBuffer>, signature: string | null, given = credentials) {
  return whatsapp.receive(webhook(body, signature), given, "");
}

test("a webhook that Meta signed is genuine", async () => {
  const receipt = await receive(hello, await signatureOf(hello));
  expect(receipt).toMatchObject({ genuine: true, notes: [], items: [{ item: { networkId: "wamid.1" } }] });
});

test("a body that came escaped and was signed so is genuine", async () => {
  const receipt = await receive(escaped(greeting), await signatureOf(escaped(greeting)));
  expect(receipt).toMatchObject({ genuine: true, items: [{ item: { content: "Grüße äöå 😀 中" } }] });
});

test("a signature over the escaped form in upper case is refused", async () => {
  const upper = escaped(greeting).replace(/\\u[0-9a-f]{4}/g, (unit) => `\\u${unit.slice(2).toUpperCase()}`);
  expect(await receive(greeting, await signatureOf(upper))).toEqual(FORGED);
});

test("an escaped form has the whole body, of which a byte order mark is a part", async () => {
  expect(await receive("é", await signatureOf("\\u00e9"))).toMatchObject({ genuine: true });
  const marked = `\ufeff${greeting}`;
  expect(await receive(marked, await signatureOf(escaped(marked)))).toMatchObject({ genuine: true });
  expect(await receive(marked, await signatureOf(escaped(greeting)))).toEqual(FORGED);
});

test.each([
  ["once, if it is ASCII", hello, 1],
  ["in both forms, if it is not", greeting, 2],
])("a forged body is verified %s", async (_name, body, times) => {
  const verified = vi.spyOn(crypto.subtle, "verify");
  expect(await receive(body, await signatureOf("forged"))).toEqual(FORGED);
  expect(verified).toHaveBeenCalledTimes(times);
  verified.mockRestore();
});

test("bytes that are no UTF-8 are genuine by their bytes alone", async () => {
  const bytes = new Uint8Array([0x7b, 0xff, 0xfe, 0x20, 0x20, 0x20, 0x7d]);
  expect(await receive(bytes, await signatureOf(bytes))).toEqual({
    genuine: true,
    items: [],
    notes: ["body not understood"],
  });
  for (const form of ["{\ufffd\ufffd   }", "{\\ufffd\\ufffd   }"]) {
    expect(await receive(bytes, await signatureOf(form))).toEqual(FORGED);
  }
});

test.each<[string, (right: string) => string | null]>([
  ["absent", () => null],
  ["empty", () => ""],
  ["a space", () => " "],
  ["the scheme alone", () => "sha256="],
  ["without its scheme", (right) => right.slice("sha256=".length)],
  ["of another scheme", (right) => right.replace("sha256", "sha1")],
  ["of a scheme in upper case", (right) => right.replace("sha256", "SHA256")],
  ["in upper case", (right) => `sha256=${right.slice("sha256=".length).toUpperCase()}`],
  ["cut by one digit", (right) => right.slice(0, -1)],
  ["cut by a byte", (right) => right.slice(0, -2)],
  ["cut to its half", (right) => right.slice(0, 39)],
  ["longer by one digit", (right) => `${right}0`],
  ["longer by a byte", (right) => `${right}00`],
  ["of other digits", (right) => right.replace(/.$/, (last) => (last === "0" ? "1" : "0"))],
  ["of no digits", () => `sha256=${"z".repeat(64)}`],
  ["of zeros", () => `sha256=${"0".repeat(64)}`],
  ["given twice", (right) => `${right}, ${right}`],
  ["quoted", (right) => `"${right}"`],
  ["in base64", (right) => `sha256=${Uint8Array.fromHex(right.slice("sha256=".length)).toBase64()}`],
])("a signature that is %s is refused", async (_name, change) => {
  expect(await receive(hello, change(await signatureOf(hello)))).toEqual(FORGED);
});

test.each<[string, string]>([
  ["written anew with spaces", JSON.stringify(JSON.parse(hello), null, 2)],
  ["longer by a line break", `${hello}\n`],
  ["shorter by its last byte", hello.slice(0, -1)],
  ["changed in one letter", hello.replace("Hi", "Ho")],
  ["led by a byte order mark", `\ufeff${hello}`],
  ["empty", ""],
])("a signature is refused for a body that is %s", async (_name, body) => {
  expect(await receive(body, await signatureOf(hello))).toEqual(FORGED);
});

test("a signature of another channel's secret is refused", async () => {
  expect(await receive(hello, await signatureOf(hello, "another-app-secret"))).toEqual(FORGED);
});

test("a signature of the access token is refused", async () => {
  expect(await receive(hello, await signatureOf(hello, credentials.accessToken))).toEqual(FORGED);
});

test("without an app secret nothing is genuine", async () => {
  const signature = await signatureOf(hello, " ");
  expect(await receive(hello, signature, { ...credentials, appSecret: "" })).toEqual(FORGED);
  expect(await whatsapp.receive(webhook(hello, signature), {}, "")).toEqual(FORGED);
});

test("random signatures and random changes of one byte are all refused", async () => {
  const right = await signatureOf(hello);
  const bytes = new TextEncoder().encode(hello);
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.nat(bytes.length - 1),
      fc.integer({ min: 1, max: 255 }),
      async (digest, at, flip) => {
        const changed = new Uint8Array(bytes);
        changed[at] = (changed[at] ?? 0) ^ flip;
        expect(await receive(hello, `sha256=${new Uint8Array(digest).toHex()}`)).toEqual(FORGED);
        expect(await receive(changed, right)).toEqual(FORGED);
      },
    ),
    { numRuns: 500 },
  );
});

test("every text that Meta signs, in either form, is genuine and read as it was written", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 60 }), fc.boolean(), async (content, asEscaped) => {
      const body = callOf({ messages: [{ from: "49151", id: "wamid.3", type: "text", text: { body: content } }] });
      const receipt = await receive(body, await signatureOf(asEscaped ? escaped(body) : body));
      expect(receipt).toMatchObject({ genuine: true, items: [{ item: { content } }] });
    }),
    { numRuns: 300 },
  );
});

const TOKEN = "verify-token-0123456789";
const query = { "hub.mode": "subscribe", "hub.verify_token": TOKEN, "hub.challenge": "1158201444" };

test.each(["1158201444", "0", "aZ09-._~", "a".repeat(256)])("the challenge %s is given back", async (challenge) => {
  expect(await handshake(new URLSearchParams({ ...query, "hub.challenge": challenge }), TOKEN)).toBe(challenge);
});

test.each<[string, string]>([
  ["another mode", "hub.mode=unsubscribe&hub.verify_token=verify-token-0123456789&hub.challenge=1"],
  ["no mode", "hub.verify_token=verify-token-0123456789&hub.challenge=1"],
  ["another token", "hub.mode=subscribe&hub.verify_token=verify-token-0123456780&hub.challenge=1"],
  ["a cut token", "hub.mode=subscribe&hub.verify_token=verify-token-012345678&hub.challenge=1"],
  ["a token in other case", "hub.mode=subscribe&hub.verify_token=VERIFY-TOKEN-0123456789&hub.challenge=1"],
  ["an empty token", "hub.mode=subscribe&hub.verify_token=&hub.challenge=1"],
  ["no token", "hub.mode=subscribe&hub.challenge=1"],
  ["no challenge", "hub.mode=subscribe&hub.verify_token=verify-token-0123456789"],
  ["an empty challenge", "hub.mode=subscribe&hub.verify_token=verify-token-0123456789&hub.challenge="],
  [
    "a script for a challenge",
    "hub.mode=subscribe&hub.verify_token=verify-token-0123456789&hub.challenge=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
  ],
  ["a challenge with a line break", "hub.mode=subscribe&hub.verify_token=verify-token-0123456789&hub.challenge=1%0a"],
  ["a challenge with a space", "hub.mode=subscribe&hub.verify_token=verify-token-0123456789&hub.challenge=1+2"],
  [
    "a challenge too long",
    `hub.mode=subscribe&hub.verify_token=verify-token-0123456789&hub.challenge=${"1".repeat(257)}`,
  ],
  ["two modes", "hub.mode=subscribe&hub.mode=subscribe&hub.verify_token=verify-token-0123456789&hub.challenge=1"],
  ["two tokens", "hub.mode=subscribe&hub.verify_token=verify-token-0123456789&hub.verify_token=x&hub.challenge=1"],
  [
    "two challenges",
    "hub.mode=subscribe&hub.verify_token=verify-token-0123456789&hub.challenge=1&hub.challenge=%3Cb%3E",
  ],
])("a handshake with %s is refused", async (_name, text) => {
  expect(await handshake(new URLSearchParams(text), TOKEN)).toBe(null);
});

test("a handshake with a channel that has no verify token is refused", async () => {
  expect(await handshake(new URLSearchParams({ ...query, "hub.verify_token": "" }), "")).toBe(null);
});

test("a genuine webhook is never read with its secret in what comes out", async () => {
  const receipt = await receive(hello, await signatureOf(hello));
  expect(JSON.stringify(receipt)).not.toContain(APP_SECRET);
});
