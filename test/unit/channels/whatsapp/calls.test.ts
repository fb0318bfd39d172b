import { expect, test } from "vitest";
import { fakeNetwork, type Reply, WHOLE } from "../fake-network.ts";
import { accepted, credentials, network, outbound, signatureOf, webhook, whatsapp } from "./network.ts";

const LIMIT = 100 * 1_024 * 1_024;
const URL_OF_MEDIA = "https://lookaside.fbsbx.com/a";

const send = (fields = {}, signal = new AbortController().signal) =>
  whatsapp.send(outbound(fields), credentials, network, signal);
const media = (id = "F1") => whatsapp.media(id, credentials, network, WHOLE);
const found = (fields: object = {}): Reply => {
  return () => Response.json({ url: URL_OF_MEDIA, mime_type: "image/jpeg", ...fields });
};
const raw = (body: BodyInit | null, status: number, headers: HeadersInit = {}): Reply => {
  return () => new Response(body, { status, headers });
};
/** The body of the one call that a message makes. */
async function bodyOf(fields: object): Promise<Record<string, unknown>> {
  const sent = fakeNetwork(accepted("wamid.1"));
  await send(fields);
  return sent[0]?.body as Record<string, unknown>;
}

/** An answer with a body that tells whether it was let go. */
function watched(status: number, headers: HeadersInit = {}) {
  const seen = { canceled: false };
  const body = new ReadableStream({ cancel: () => void (seen.canceled = true) });
  return { seen, reply: () => new Response(body, { status, headers }) };
}

test("no redirect is followed, and its body is canceled", async () => {
  for (const status of [300, 399]) {
    const { seen, reply } = watched(status);
    fakeNetwork(reply);
    expect(await send()).toMatchObject({ outcome: "retry", code: "redirected" });
    expect(seen.canceled).toBe(true);
  }
});

test("no call is made after the attempt's deadline", async () => {
  const sent = fakeNetwork();
  expect(await send({}, AbortSignal.abort())).toMatchObject({
    outcome: "retry",
    code: "deadline",
    message: "The attempt's deadline passed before the call",
  });
  expect(sent).toEqual([]);
});

test("parameters are sent by number only if all names are numbers", async () => {
  const parametersOf = async (...names: string[]) => {
    const parameters = names.map((name) => ({ name, value: `v${name}` }));
    const body = await bodyOf({ type: "TEMPLATE", template: { name: "t", language: "en", parameters } });
    return (body.template as { components: { parameters: object[] }[] }).components[0]?.parameters;
  };
  expect(await parametersOf("2", "10", "1")).toEqual(["v1", "v2", "v10"].map((text) => ({ type: "text", text })));
  for (const name of ["a1", "1a"]) {
    expect(await parametersOf("2", name)).toEqual([
      { type: "text", parameter_name: "2", text: "v2" },
      { type: "text", parameter_name: name, text: `v${name}` },
    ]);
  }
});

test("a document gets the file name of its link, truncated to 240 characters", async () => {
  const nameOf = async (path: string) => {
    const body = await bodyOf({ type: "DOCUMENT", mediaUrl: `https://media.test/${path}`, content: "" });
    return (body.document as { filename?: string }).filename;
  };
  expect(await nameOf("a/my%20file.pdf?x=1")).toBe("my file.pdf");
  expect(await nameOf("a/")).toBeUndefined();
  expect(await nameOf("%zz.pdf")).toBe("%zz.pdf");
  expect(await nameOf("x".repeat(241))).toBe("x".repeat(240));
  expect(await nameOf(`${"x".repeat(239)}%F0%9F%91%8D`)).toBe(`${"x".repeat(239)}\ufffd`);
  expect(await nameOf(`%zz${"x".repeat(241)}`)).toBe(`%zz${"x".repeat(237)}`);
});

test("a failed media request says why, and its body is canceled", async () => {
  const unavailable = (message: string) => ({ outcome: "unavailable", message });
  const asked = (...replies: Reply[]) => {
    fakeNetwork(...replies);
    return media();
  };
  const lost: Reply = () => Promise.reject(new Error(`GET ${URL_OF_MEDIA} ${credentials.accessToken}`));
  expect(await media("a/b")).toEqual(unavailable("No such media"));
  expect(await asked(lost)).toEqual(unavailable("The network did not answer"));
  expect(await asked(raw("a page", 500))).toEqual(unavailable("The network answered 500 to the lookup"));
  expect(await asked(raw("a page", 200))).toEqual(unavailable("The network answered 200 to the lookup"));
  expect(await asked(found({ file_size: LIMIT + 1 }))).toEqual(unavailable("The media is too large"));
  expect(await asked(found(), lost)).toEqual(unavailable("The network did not answer"));
  for (const [status, headers, answer] of [
    [503, {}, unavailable("The network answered 503 to the download")],
    [410, {}, { outcome: "expired", finalAfterDays: 30 }],
    [200, { "Content-Type": "text/html; charset=utf-8" }, unavailable("The network answered with a page")],
    [200, { "Content-Length": String(LIMIT + 1) }, unavailable("The media is empty or too large")],
  ] as const) {
    const { seen, reply } = watched(status, headers);
    expect(await asked(found(), reply)).toEqual(answer);
    expect(seen.canceled).toBe(true);
  }
});

test("media of 100 MiB is passed on", async () => {
  fakeNetwork(found({ file_size: LIMIT }), raw("x", 200, { "Content-Length": String(LIMIT) }));
  expect(await media()).toMatchObject({ outcome: "found", length: LIMIT });
});

test("a content type is told without its parameters, and is the lookup's where the download names none", async () => {
  fakeNetwork(found(), raw(bytesOf("x"), 200, { "Content-Type": " Image/PNG ; q=1" }));
  expect(await media()).toMatchObject({ contentType: "image/png" });
  fakeNetwork(found(), raw(bytesOf("x"), 200));
  expect(await media()).toMatchObject({ contentType: "image/jpeg" });
  fakeNetwork(found({ mime_type: undefined }), raw(bytesOf("x"), 200));
  expect(await media()).toMatchObject({ contentType: null });
});

test("an item belongs to the channel with its number and the called app", () => {
  const isFor = (account: string, changes: object) =>
    whatsapp.isFor?.(account, { ...credentials, ...changes }, credentials);
  expect(isFor(credentials.phoneNumberId, {})).toBe(true);
  expect(isFor("1", {})).toBe(false);
  expect(isFor(credentials.phoneNumberId, { appSecret: "another" })).toBe(false);
});

test("a handshake without a token is refused, whatever the channel's is", async () => {
  const query = new URLSearchParams({ "hub.mode": "subscribe", "hub.challenge": "1" });
  expect(await whatsapp.handshake?.(query, "undefined")).toBeNull();
});

test("a body that is not ASCII is genuine in its escaped form too, from the first sign on that is not", async () => {
  for (const text of ["\u007f", "\u0080", "é", "🦀", "\ufeffé"]) {
    const body = JSON.stringify({ text });
    const escaped = [...body]
      .flatMap((sign) => Array.from({ length: sign.length }, (_, i) => sign.charCodeAt(i)))
      .map((unit) => (unit < 0x80 ? String.fromCharCode(unit) : `\\u${unit.toString(16).padStart(4, "0")}`))
      .join("");
    expect(await whatsapp.receive(webhook(body, await signatureOf(escaped)), credentials, ""), text).toMatchObject({
      genuine: true,
    });
  }
});

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(new TextEncoder().encode(text));
}
