import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newKeyText } from "../../../src/keys/key-text.ts";
import { newId } from "../../../src/model/id.ts";
import { VERSION } from "../../../src/model/version.ts";
import { replaceMethod } from "../../support/faults.ts";
import {
  type Answer,
  admin,
  call,
  client,
  expectError,
  newChat,
  newKey,
  newOrganization,
} from "../../support/harness.ts";
import { once } from "../../support/once.ts";

/** Compares the whole body, so that it has no second text and no other field, and its content type. */
function expectBody(answer: Answer, status: number, body: object): void {
  expect({ status: answer.status, body: answer.body }, answer.text).toEqual({ status, body });
  expect(answer.headers.get("Content-Type")).toMatch(/^application\/json\b/);
}

const VALIDATION = { message: "Validation failed", code: "validation_failed" };

test.each([undefined, "Basic YWRhOnNlY3JldA==", "Bearer one two"])(
  "the Authorization %j is a 401 missing_authorization",
  async (header) => {
    const answer = await call("GET", "/api/v1/chats", {
      headers: header === undefined ? {} : { Authorization: header },
    });
    const text = "Missing or invalid Authorization header";
    expectBody(answer, 401, { message: text, code: "missing_authorization" });
    expect(answer.headers.get("WWW-Authenticate")).toBe("Bearer");
  },
);

test("an unknown key, a key with a wrong checksum, a revoked key and an expired key get the same response", async () => {
  const { organizationId } = await newOrganization();
  const [cut, revoked, expired] = await Promise.all([1, 2, 3].map(() => newKey(organizationId)));
  await admin("DELETE", `/keys/${revoked?.key.id}`);
  await env.DB.prepare("update api_keys set expires_at = 1 where id = ?").bind(expired?.key.id).run();
  const last = cut?.secret.at(-1) === "0" ? "1" : "0";
  const unknown = await newKeyText(newId("key", null), Uint8Array.fromBase64(env.KEY_SECRET));
  const answers = await Promise.all(
    ["nonsense", unknown, `${cut?.secret.slice(0, -1)}${last}`, revoked?.secret, expired?.secret].map((secret) =>
      client(secret ?? "")("GET", "/chats"),
    ),
  );
  for (const answer of answers) {
    expectBody(answer, 401, { message: "Invalid or expired API key", code: "invalid_api_key" });
    expect([...answer.headers.keys()].filter((name) => /limit|retry|vary/.test(name))).toEqual([]);
    expect([...answer.headers.keys()]).toEqual([...(answers[0]?.headers.keys() ?? [])]);
    expect(answer.headers.get("WWW-Authenticate")).toBe("Bearer");
  }
});

test("a key without the permission gets a 403 that names it", async () => {
  const { secret } = await newKey((await newOrganization()).organizationId, { permissions: ["chats:read"] });
  const answer = await client(secret)("POST", "/chats", {});
  expectBody(answer, 403, {
    message: "The API key lacks the permission chats:write. Use a key that has it",
    code: "permission_denied",
  });
});

test("an address outside the allow-list gets a 403 that names it", async () => {
  const { secret } = await newKey((await newOrganization()).organizationId, { ipAllowlist: ["192.0.2.0/24"] });
  const answer = await client(secret)("GET", "/chats", undefined, { "CF-Connecting-IP": "198.51.100.7" });
  expectBody(answer, 403, {
    message: "The address 198.51.100.7 is not allowed. Add it to the key's ipAllowlist",
    code: "ip_not_allowed",
  });
});

test("a validation error is a 400 that lists each fault with its path and message", async () => {
  const { api, channelId } = await newOrganization();
  const body = { channelId, contact: { address: "ada", name: 1 }, metadata: { plan: 1 } };
  expectBody(await api("POST", "/chats", body), 400, {
    ...VALIDATION,
    errors: [
      { path: "contact.name", message: expect.stringMatching(/./) },
      { path: "metadata.plan", message: expect.stringMatching(/./) },
    ],
  });
});

test("a body that is not a JSON object is a 400 with a message", async () => {
  const { api } = await newOrganization();
  expectBody(await api("POST", "/chats", "[]"), 400, {
    message: "The request body must be a JSON object",
    code: "validation_failed",
    errors: [{ path: "", message: "must be a JSON object" }],
  });
});

/** An organization with a chat, for requests that are refused. */
const shared = once(async () => {
  const { api, channelId } = await newOrganization();
  return { api, chat: await newChat(api, channelId) };
});

test.each([
  ["GET", "/chats/cht_g000000000000000", undefined, "Chat not found", "chat_not_found"],
  ["GET", "/chats/:chat/messages/msg_g000000000000000", undefined, "Message not found", "message_not_found"],
  ["POST", "/chats/:chat/messages", { content: "Hi", senderId: "mbr_1" }, "Sender not found", "sender_not_found"],
  ["POST", "/chats/:chat/messages", { content: "Hi", templateId: "tpl_1" }, "Template not found", "template_not_found"],
  ["POST", "/chats", { channelId: "chn_1", contact: { address: "a" } }, "Channel not found", "channel_not_found"],
  ["GET", "/nowhere", undefined, "Not found", "not_found"],
  ["PUT", "/", undefined, "Not found", "not_found"],
  ["GET", "/chats/", undefined, "Not found", "not_found"],
  ["GET", "/CHATS", undefined, "Not found", "not_found"],
])("%s %s with %j is a 404 with an error: %s", async (method, path, body, error, code) => {
  const { api, chat } = await shared();
  expectBody(await api(method, path.replace(":chat", chat.id), body), 404, { error, code });
});

test("a path outside all prefixes is a 404 without a key", async () => {
  expectBody(await call("GET", "/nowhere"), 404, { error: "Not found", code: "not_found" });
});

test.each([
  ["/chats", "GET, HEAD, POST", ["PUT", "PATCH", "DELETE", "OPTIONS"]],
  ["/chats/:chat", "GET, HEAD, PATCH, DELETE", ["POST", "PUT", "OPTIONS"]],
  ["/chats/:chat/messages", "GET, HEAD, POST", ["PUT", "PATCH", "DELETE", "OPTIONS"]],
  ["/chats/:chat/messages/msg_1", "GET, HEAD, PATCH", ["POST", "PUT", "DELETE", "OPTIONS"]],
  ["/key", "GET, HEAD", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]],
])("%s allows %s, and any other method is a 405", async (path, allow, methods) => {
  const { api } = await shared();
  for (const method of methods) {
    const answer = await api(method, path.replace(":chat", newId("cht", null)));
    expectBody(answer, 405, { error: "Method not allowed", code: "method_not_allowed" });
    expect(answer.headers.get("Allow")).toBe(allow);
  }
});

test("a method override in a header has no effect", async () => {
  const { api } = await newOrganization();
  const answer = await api("GET", "/chats", undefined, { "X-HTTP-Method-Override": "DELETE" });
  expect(answer.status).toBe(200);
});

test("an internal error is a 500 that hides its cause from the client and logs it", async () => {
  const { api } = await newOrganization();
  const logged = vi.spyOn(console, "error").mockReturnValue();
  replaceMethod("ORGANIZATIONS", "list", () => () => {
    throw Object.assign(new TypeError("the canary sang"), { remote: true });
  });
  const answer = await api("GET", "/chats");
  expectBody(answer, 500, { message: "Internal error", code: "internal_error" });
  const requestId = answer.headers.get("X-Request-Id");
  expect(logged).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ requestId, cause: expect.stringContaining("the canary sang") }),
  );
});

test("an unreachable key object is a 503 with Retry-After, never a 401", async () => {
  const { api } = await newOrganization();
  vi.spyOn(console, "error").mockReturnValue();
  vi.spyOn(env.KEYS, "getByName").mockImplementation(() => {
    throw new Error("the canary sang");
  });
  const answer = await api("GET", "/chats");
  expectBody(answer, 503, { message: "Service unavailable", code: "unavailable" });
  expect(Number(answer.headers.get("Retry-After"))).toBeGreaterThan(0);
});

test("healthz responds without a key, and has no other method", async () => {
  const answer = await call("GET", "/healthz");
  expect([answer.status, answer.body]).toEqual([200, { ok: true, version: VERSION, build: null }]);
  expectError(await call("POST", "/healthz"), 405, "method_not_allowed");
});

test("healthz says the version that is deployed, if there is one", async () => {
  const headers = { "CF-Ray": "8f1", "CF-Visitor": '{"scheme":"https"}' };
  expect((await call("GET", "/healthz", { headers })).body.build).toBe(env.DEPLOYED.id);
  expect((await call("GET", "/healthz", { headers, bindings: { DEPLOYED: undefined as never } })).body.build).toBe(
    null,
  );
});

test.each([undefined, "*/*", "application/json"])(
  "GET / with Accept %s returns links to the documents",
  async (accept) => {
    const answer = await call("GET", "/", accept === undefined ? {} : { headers: { Accept: accept } });
    expect([answer.status, answer.body]).toEqual([
      200,
      { name: "Parley", docs: "/docs", openapi: "/api/v1/openapi.json", health: "/healthz" },
    ]);
    expect(answer.headers.get("Vary")).toBe("Accept");
  },
);

test("GET / redirects a browser to the documentation", async () => {
  const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  const { status, headers } = await call("GET", "/", { headers: { Accept: accept } });
  expect([status, headers.get("Location"), headers.get("Vary")]).toEqual([302, "/docs", "Accept"]);
});
