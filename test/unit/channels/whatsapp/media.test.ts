import { expect, test, vi } from "vitest";
import { whatsapp } from "../../../../src/channels/whatsapp/adapter.ts";
import type { MediaAsk } from "../../../../src/model/network.ts";
import { fakeNetwork, WHOLE } from "../fake-network.ts";
import { credentials, network, refused, TOKEN } from "./network.ts";

const PLACE = "https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=111&ext=1790000000&hash=ATuX";
const BYTES = new Uint8Array([0xff, 0xd8, 0xff, 0x00]);

function media(id = "111", ask: MediaAsk = WHOLE) {
  return whatsapp.media(id, credentials, network, ask);
}

/** Meta's answer to the lookup. */
function found(url: string, fields: object = {}) {
  return () =>
    Response.json({
      messaging_product: "whatsapp",
      url,
      mime_type: "image/jpeg",
      sha256: "x",
      file_size: 4,
      id: "111",
      ...fields,
    });
}

/** The media themselves. */
function bytes(headers: Record<string, string> = { "Content-Type": "image/jpeg", "Content-Length": "4" }) {
  return () => new Response(BYTES, { headers });
}

test("media are looked up and then fetched, with the token and without following redirects", async () => {
  const sent = fakeNetwork(found(PLACE), bytes());
  const answer = await media();
  expect(answer).toMatchObject({ outcome: "found", contentType: "image/jpeg", length: 4 });
  expect(new Uint8Array(await new Response("body" in answer ? answer.body : null).arrayBuffer())).toEqual(BYTES);
  const authorization = `Bearer ${TOKEN}`;
  const common = { method: undefined, redirect: "manual", body: undefined };
  expect(sent).toEqual([
    { ...common, url: "https://graph.test/v24.0/111", headers: { authorization, "user-agent": "Parley" } },
    { ...common, url: PLACE, headers: { authorization, "user-agent": "Parley", "accept-encoding": "identity" } },
  ]);
});

test.each([
  "https://lookaside.fbsbx.com/x",
  "https://scontent.xx.fbcdn.net/x",
  "https://mmg.whatsapp.net/x",
  "https://whatsapp.net/x",
  "https://graph.test/x",
  "https://GRAPH.test:443/x",
])("the token goes to %s", async (place) => {
  const sent = fakeNetwork(found(place), bytes());
  expect(await media()).toMatchObject({ outcome: "found" });
  expect(sent[1]).toMatchObject({ url: place, headers: { authorization: `Bearer ${TOKEN}` } });
});

test("a base by plain http, as a local fake has, is the configured one and may be asked", async () => {
  const sent = fakeNetwork(found("http://127.0.0.1:9100/files/1"), bytes());
  const answer = await whatsapp.media("111", credentials, { base: "http://127.0.0.1:9100" }, WHOLE);
  expect(answer).toMatchObject({ outcome: "found" });
  expect(sent.map((each) => each.url)).toEqual(["http://127.0.0.1:9100/v24.0/111", "http://127.0.0.1:9100/files/1"]);
});

test.each<[string, string]>([
  ["a foreign host", "https://evil.example/x"],
  ["a host that begins like Meta's", "https://lookaside.fbsbx.com.evil.example/x"],
  ["a host that ends like Meta's", "https://evilfbsbx.com/x"],
  ["Meta's host as a user's name", "https://lookaside.fbsbx.com@evil.example/x"],
  ["a user's name at Meta's host", "https://me@lookaside.fbsbx.com/x"],
  ["a password at Meta's host", "https://:secret@lookaside.fbsbx.com/x"],
  ["a backslash that hides the host", "https://evil.example\\@lookaside.fbsbx.com/x"],
  ["plain http", "http://lookaside.fbsbx.com/x"],
  ["another port", "https://lookaside.fbsbx.com:8443/x"],
  ["the base at another port", "https://graph.test:8443/x"],
  ["the base by plain http", "http://graph.test/x"],
  ["a host below the base's", "https://evil.graph.test/x"],
  ["an inner address", "http://169.254.169.254/latest/meta-data"],
  ["this machine", "http://localhost:8787/admin/v1/organizations"],
  ["a script", "javascript:alert(1)"],
  ["data", "data:text/html,<script>alert(1)</script>"],
  ["a file", "file:///etc/passwd"],
  ["a path alone", "/v24.0/me"],
  ["nothing", ""],
])("a lookup that names %s is not followed", async (_name, place) => {
  const sent = fakeNetwork(found(place), bytes());
  expect(await media()).toEqual({
    outcome: "unavailable",
    message: "The network named a host that is not its own",
  });
  expect(sent).toHaveLength(1);
});

const moved = () => new Response("", { status: 302, headers: { Location: "https://evil.example/" } });

test.each<[string, (() => Response | Promise<Response>)[]]>([
  ["a redirect for a lookup", [moved]],
  ["a lookup without an address", [() => Response.json({ id: "111" })]],
  ["an address that is no text", [() => Response.json({ url: { href: PLACE } })]],
  ["an address over 4,096 characters", [found(`${PLACE}${"x".repeat(4_096)}`)]],
  ["a lookup of more than 64 KiB", [found(PLACE, { padding: "x".repeat(70_000) })]],
  ["a lookup that is cut off", [() => new Response('{"url":"https://look')]],
  ["a size over 100 MiB, as a text", [found(PLACE, { file_size: "104857601" })]],
  ["a redirect for the media", [found(PLACE), moved]],
  ["a piece of the media", [found(PLACE), () => new Response(BYTES, { status: 206 })]],
  ["no media at all", [found(PLACE), () => new Response(null)]],
])("%s makes media unavailable without revealing the token or the URL", async (_name, replies) => {
  const sent = fakeNetwork(...replies);
  const answer = await media();
  expect(answer).toEqual({ outcome: "unavailable", message: expect.any(String) });
  expect(JSON.stringify(answer)).not.toMatch(/EAAtoken|https?:/);
  expect(sent).toHaveLength(replies.length);
});

test.each<[string, (() => Response)[]]>([
  ["whose lookup is 404", [() => new Response("", { status: 404 })]],
  [
    "that Meta says does not exist",
    [refused(100, { message: "Object with ID '111' does not exist" }) as () => Response],
  ],
  ["that are 404", [found(PLACE), () => new Response("gone", { status: 404 })]],
])("media %s are expired", async (_name, replies) => {
  fakeNetwork(...replies);
  expect(await media()).toEqual({ outcome: "expired", finalAfterDays: 30 });
});

test("without its bytes, media are looked up alone", async () => {
  const sent = fakeNetwork(found(PLACE, { file_size: "4" }));
  expect(await media("111", { isHead: true, range: null })).toEqual({
    ...{ outcome: "found", body: null, contentType: "image/jpeg", length: 4, contentRange: null },
  });
  expect(sent).toHaveLength(1);
  fakeNetwork(found(PLACE, { file_size: "many", mime_type: "text/html" }));
  expect(await media("111", { isHead: true, range: null })).toMatchObject({ contentType: null, length: null });
});

test("a part of media is asked of Meta's host", async () => {
  const part = new Response(BYTES.slice(1, 3), { status: 206, headers: { "Content-Range": "bytes 1-2/4" } });
  const sent = fakeNetwork(found(PLACE), () => part);
  const answer = await media("111", { isHead: false, range: "bytes=1-2" });
  expect(answer).toMatchObject({
    ...{ outcome: "found", contentType: "image/jpeg", length: 2, contentRange: "bytes 1-2/4" },
  });
  expect("body" in answer && (await drain(answer.body))).toBe(2);
  expect(sent.map(({ headers }) => headers?.range)).toEqual([undefined, "bytes=1-2"]);
});

test("a refused lookup returns the network's text without the token", async () => {
  fakeNetwork(refused(190, { status: 401, message: `Malformed access token ${TOKEN}` }));
  expect(await media()).toEqual({ outcome: "unavailable", message: "Malformed access token [token]" });
});

test.each(["../me", "1/2", "1?fields=x", "1#", "", "%2e%2e", "a b", "1".repeat(129)])(
  "the id %j is asked for nowhere",
  async (id) => {
    const sent = fakeNetwork();
    expect(await media(id)).toMatchObject({ outcome: "unavailable" });
    expect(sent).toEqual([]);
  },
);

test("a page that a contact sent is passed on, but not as a page", async () => {
  fakeNetwork(found(PLACE, { mime_type: "text/html" }), bytes({ "Content-Type": "text/html", "Content-Length": "4" }));
  expect(await media()).toMatchObject({ outcome: "found", contentType: null, length: 4 });
});

/** `count` mebibytes, made only as they are read. */
function mebibytes(count: number): ReadableStream<Uint8Array> {
  let made = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (made === count) return controller.close();
      made += 1;
      controller.enqueue(new Uint8Array(1_024 * 1_024));
    },
  });
}

async function drain(body: ReadableStream<Uint8Array> | null): Promise<number> {
  let size = 0;
  for await (const chunk of body ?? []) size += chunk.byteLength;
  return size;
}

test("media that don't say how long they are break off after 100 MiB", async () => {
  fakeNetwork(found(PLACE), () => new Response(mebibytes(110)));
  const answer = await media();
  if (answer.outcome !== "found") throw new Error(answer.outcome);
  await expect(drain(answer.body)).rejects.toThrow("too large");
});

test("nothing is logged, whatever happens", async () => {
  const logs = (["log", "info", "warn", "error", "debug"] as const).map((level) => vi.spyOn(console, level));
  fakeNetwork(found("https://evil.example/"), moved, refused(190), () => Promise.reject(new Error(TOKEN)));
  for (let call = 0; call < 4; call++) await media();
  expect(logs.flatMap((log) => log.mock.calls)).toEqual([]);
  vi.restoreAllMocks();
});
