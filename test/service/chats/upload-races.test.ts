import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { browser, signInMember } from "../../support/console.ts";
import { replaceMethod } from "../../support/faults.ts";
import { admin, call, created, expectError, newChat, newKey, newOrganization } from "../../support/harness.ts";
import { asUser, signUser } from "../../support/sockets.ts";
import { neverRing } from "../../support/timers.ts";
import { newPlace, PNG } from "../visitors/uploading.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

const MINUTE = 60_000;
const HOME = "192.0.2.1";

/** Does this when the next upload's bytes are stored, before the chat confirms them. */
function onceStored(change: () => unknown): void {
  // The upload waits for the change, however long that takes.
  neverRing(10_000);
  const { MEDIA } = env;
  const put = MEDIA.put.bind(MEDIA) as (...given: unknown[]) => Promise<R2Object>;
  vi.spyOn(MEDIA, "put").mockImplementationOnce((async (...given: unknown[]) => {
    const stored = await put(...given);
    await change();
    return stored;
  }) as never);
}

async function newUpload(keyBody: Record<string, unknown> = {}) {
  const place = await newOrganization();
  const chat = await newChat(place.api, place.channelId);
  const { key, secret } = await newKey(place.organizationId, keyBody);
  const upload = (headers: Record<string, string> = {}, body: Uint8Array | string = PNG) =>
    call("POST", `/api/v1/chats/${chat.id}/media`, {
      headers: {
        Authorization: `Bearer ${secret}`,
        "Content-Type": "image/png",
        "Content-Length": String(body.length),
        "CF-Connecting-IP": HOME,
        ...headers,
      },
      body: body as never,
    });
  return { ...place, chat, key, upload };
}

type Change = (keyId: string) => unknown;

test.for<[what: string, status: number, code: string, change: Change, key?: Record<string, unknown>]>([
  ["is revoked", 401, "invalid_api_key", (id) => admin("DELETE", `/keys/${id}`)],
  ["is narrowed", 403, "permission_denied", (id) => admin("PATCH", `/keys/${id}`, { permissions: ["messages:read"] })],
  ["expires", 401, "invalid_api_key", () => pass(2 * MINUTE), { expiresAt: new Date(Date.UTC(2200, 0)).toISOString() }],
  ["is rotated", 401, "invalid_api_key", (id) => admin("POST", `/keys/${id}/rotate`, {})],
  [
    "gets a list of other addresses",
    403,
    "ip_not_allowed",
    (id) => admin("PATCH", `/keys/${id}`, { ipAllowlist: ["198.51.100.7"] }),
  ],
])("a key that %s during its upload gets a %i and no file", async ([what, status, code, change, body]) => {
  const expiring = body && { expiresAt: new Date(Date.now() + MINUTE).toISOString() };
  const { upload, key, api, chat } = await newUpload(expiring);
  onceStored(() => change(key.id));
  const answer = await upload({ "Idempotency-Key": what });
  expectError(answer, status, code);
  const named = await api("POST", `/chats/${chat.id}/messages`, { content: "Look", mediaId: "med_gaaaaaaaaaaaaaaa" });
  expectError(named, 404, "media_not_found");
  const [stored] = (await env.MEDIA.list({ prefix: `${chat.id}/` })).objects;
  const mediaId = stored?.key.split("/")[2];
  expectError(await api("POST", `/chats/${chat.id}/messages`, { content: "Look", mediaId }), 404, "media_not_found");
});

test("a key that is revoked while its upload is repeated gets a 401", async () => {
  const { upload, key } = await newUpload();
  const headers = { "Idempotency-Key": "one" };
  created(await upload(headers));
  const restore = replaceMethod("CHATS", "reserveFile", (original) => async (...given) => {
    const answer = await original(...given);
    expect((await admin("DELETE", `/keys/${key.id}`)).status).toBe(200);
    return answer;
  });
  expectError(await upload(headers), 401, "invalid_api_key");
  restore();
});

test("a change of the key that leaves it what the upload needs lets it end", async () => {
  const { upload, key } = await newUpload();
  onceStored(() => admin("PATCH", `/keys/${key.id}`, { permissions: ["messages:send"], ipAllowlist: [HOME] }));
  created(await upload());
});

test("a member who is removed during an upload gets no file", async () => {
  const { organizationId, chat } = await newUpload();
  const { member } = created(await admin("POST", `/organizations/${organizationId}/members`, { name: "Ada" }));
  const page = browser(await signInMember(member.id));
  onceStored(() => admin("DELETE", `/members/${member.id}`));
  const answer = await page("POST", `/organizations/${organizationId}/chats/${chat.id}/media`, undefined, {
    headers: { "Content-Type": "image/png", "Content-Length": String(PNG.length) },
    body: PNG as never,
  });
  expectError(answer, 401, "not_signed_in");
});

test.for<[what: string, status: number, code: string, change: (channelId: string) => unknown]>([
  [
    "whose site's secret is replaced",
    401,
    "wrong_identity",
    (id) => admin("POST", `/channels/${id}/identity-secret`, {}),
  ],
  [
    "whose site is taken from the list",
    403,
    "wrong_origin",
    (id) => admin("PATCH", `/channels/${id}`, { settings: { allowedOrigins: ["https://other.example"] } }),
  ],
  [
    "of a channel that stops uploads",
    403,
    "uploads_off",
    (id) => admin("PATCH", `/channels/${id}`, { settings: { uploads: "off" } }),
  ],
])("a visitor %s during an upload gets a %i and no file", async ([, status, code, change]) => {
  const { upload, secret, channelId, api } = await newPlace();
  const claim = asUser("ada", await signUser("ada", secret))[1] as string;
  const headers = { Origin: "https://shop.example" };
  created(await upload({ claim, headers }));
  onceStored(async () => expect(((await change(channelId)) as { status: number }).status).toBeLessThan(300));
  expectError(await upload({ claim, headers }), status, code);
  const [chat] = (await api("GET", "/chats")).body.chats;
  expect((await env.MEDIA.list({ prefix: `${chat.id}/` })).objects).toHaveLength(2);
});

const HTML = `<script>alert(1)</script>${" ".repeat(PNG.length)}`.slice(0, PNG.length);

/** The bytes of this upload are stored, and its answer is lost before the chat confirms them. */
async function unconfirmed(upload: () => Promise<{ status: number }>): Promise<void> {
  const restore = replaceMethod("CHATS", "confirmFile", () => () => Promise.reject(new Error("The chat is away")));
  expect((await upload()).status).toBeGreaterThanOrEqual(500);
  restore();
}

test("a repeated upload never gives the bytes of its first try another type", async () => {
  const { upload } = await newUpload();
  const key = { "Idempotency-Key": "one" };
  await unconfirmed(() => upload({ ...key, "Content-Type": "text/html" }, HTML));
  expectError(await upload(key), 422, "idempotency_mismatch");
  const { media } = created(await upload({ ...key, "Content-Type": "text/html" }, HTML));
  expect(media).toMatchObject({ contentType: "text/html", width: null });
});

test.for<[what: string, change: (png: Uint8Array) => void]>([
  ["other sides", (png) => png.set([0, 0, 0x10, 0], 16)],
  ["another beginning", (png) => png.set([1], 60)],
])("a repeated upload with %s is a 422, and with the same bytes it is stored once", async ([, change]) => {
  const { upload, chat } = await newUpload();
  const key = { "Idempotency-Key": "one" };
  await unconfirmed(() => upload(key));
  const other = PNG.slice();
  change(other);
  expectError(await upload(key, other), 422, "idempotency_mismatch");
  expect(created(await upload(key)).media).toMatchObject({ width: 2, height: 3 });
  expect((await env.MEDIA.list({ prefix: `${chat.id}/` })).objects).toHaveLength(1);
});

test("two uploads at once with one key and other bytes are one file and a 422", async () => {
  const { upload } = await newUpload();
  const key = { "Idempotency-Key": "one" };
  const head = vi.spyOn(env.MEDIA, "head").mockResolvedValueOnce(null);
  onceStored(async () => {
    // Its look at R2 was before the first one's bytes were there.
    expectError(await upload({ ...key, "Content-Type": "text/html" }, HTML), 422, "idempotency_mismatch");
  });
  expect(created(await upload(key)).media.contentType).toBe("image/png");
  expect(head).toHaveBeenCalledTimes(2);
});

test("bytes that an earlier version stored without a mark are taken by their type", async () => {
  const { upload } = await newUpload();
  const key = { "Idempotency-Key": "one" };
  const { MEDIA } = env;
  const put = MEDIA.put.bind(MEDIA) as (...given: unknown[]) => Promise<R2Object>;
  vi.spyOn(MEDIA, "put").mockImplementationOnce(((name: string, body: unknown, how: R2PutOptions) =>
    put(name, body, { ...how, customMetadata: {} })) as never);
  await unconfirmed(() => upload(key));
  expectError(await upload({ ...key, "Content-Type": "text/html" }, HTML), 422, "idempotency_mismatch");
  created(await upload(key));
});
