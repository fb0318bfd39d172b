import { expect, onTestFinished, test, vi } from "vitest";
import { fakeNetwork, type Reply, WHOLE } from "../fake-network.ts";
import { credentials, network, refused, whatsapp } from "./network.ts";

const PLACE = "https://lookaside.fbsbx.com/a";
const ALONE = { isHead: true, range: null };

const ask = (ask: { isHead: boolean; range: string | null } = WHOLE, id = "111") =>
  whatsapp.media(id, { ...credentials, appSecret: "" }, network, ask);
const found =
  (fields: object = {}): Reply =>
  () =>
    Response.json({ url: PLACE, mime_type: "image/jpeg", ...fields });
const answer =
  (status: number, type?: string): Reply =>
  () =>
    new Response(new Uint8Array([1]), { status, headers: type === undefined ? {} : { "Content-Type": type } });

test.each<[unknown, number | null]>([
  [4, 4],
  ["4", 4],
  ["0".repeat(15), 0],
  ["0".repeat(16), null],
  [undefined, null],
  ["4x", null],
  ["x4", null],
  ["", null],
  [true, null],
  [1.5, null],
])("media of the size %j are told to have %j bytes", async (file_size, length) => {
  fakeNetwork(found({ file_size }));
  const read = await ask(ALONE);
  expect(read.outcome === "found" ? read.length : null).toBe(length);
});

test("an id may have 128 letters, digits, hyphens and underscores", async () => {
  const id = "a-_1".repeat(32);
  const sent = fakeNetwork(found());
  expect(await ask(ALONE, id)).toMatchObject({ outcome: "found", contentType: "image/jpeg" });
  expect(sent.map(({ url }) => url)).toEqual([`https://graph.test/v24.0/${id}`]);
});

test("an address may have 4,096 characters", async () => {
  const url = PLACE.padEnd(4_096, "x");
  fakeNetwork(found({ url }), found({ url: `${url}x` }));
  expect(await ask(ALONE)).toMatchObject({ outcome: "found" });
  expect(await ask(ALONE)).toMatchObject({ outcome: "unavailable" });
});

test.each<[string, Reply, object]>([
  ["100", refused(100, { message: "Does not exist" }), { outcome: "expired", finalAfterDays: 30 }],
  ["100 without words", () => Response.json({ error: { code: 100 } }), { outcome: "expired", finalAfterDays: 30 }],
  [
    "100 because of the proof",
    refused(100, { message: "API calls from the server require an appsecret_proof argument" }),
    { outcome: "unavailable", message: "API calls from the server require an appsecret_proof argument" },
  ],
  ["another code", refused(10, { message: "No permission" }), { outcome: "unavailable", message: "No permission" }],
  ["404 and another code", refused(10, { status: 404 }), { outcome: "expired", finalAfterDays: 30 }],
  [
    "an address and status 500",
    () => Response.json({ url: PLACE }, { status: 500 }),
    { outcome: "unavailable", message: "The network answered 500 to the lookup" },
  ],
  [
    "521, which is Cloudflare's",
    () => new Response("", { status: 521 }),
    { outcome: "unavailable", message: expect.not.stringContaining("to the lookup") },
  ],
])("a lookup with %s", async (_what, reply, expected) => {
  const sent = fakeNetwork(reply);
  expect(await ask()).toEqual(expected);
  expect(sent).toHaveLength(1);
});

test.each<[number, string | undefined, string]>([
  [200, "text/html", "The network answered with a page"],
  [200, "application/xhtml+xml", "The network answered with a page"],
  [503, "text/html", "The network answered 503 to the download"],
  [503, undefined, "The network answered 503 to the download"],
])("a download with status %i and type %s says: %s", async (status, type, message) => {
  fakeNetwork(found(), answer(status, type));
  expect(await ask()).toEqual({ outcome: "unavailable", message });
});

test("a network that does not answer in 15 seconds is not waited for, and no timer stays", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  for (const before of [[], [found()]]) {
    const { promise: isAsked, resolve } = Promise.withResolvers<void>();
    const never: Reply = (signal) => {
      resolve();
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted"))));
    };
    fakeNetwork(...before, never);
    let read: unknown;
    const asked = ask().then((media) => (read = media));
    await isAsked;
    await vi.advanceTimersByTimeAsync(14_999);
    expect(read).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await asked;
    expect(read).toEqual({ outcome: "unavailable", message: "The network did not answer" });
    expect(vi.getTimerCount()).toBe(0);
  }
  fakeNetwork(found());
  expect(await ask(ALONE)).toMatchObject({ outcome: "found" });
  expect(vi.getTimerCount()).toBe(0);
});
