import type { Schema } from "@cfworker/json-schema";
import { expect, test } from "vitest";
import manifest from "../../../package.json?raw";
import guide from "../../../src/docs/sending.md?raw";
import { ERRORS, type ErrorCode } from "../../../src/model/error.ts";
import { PERMISSIONS } from "../../../src/model/permission.ts";
import { documents } from "../../../src/openapi/documents.ts";
import { UNMATCHED_CODES } from "../../../src/openapi/errors.ts";
import { compareToDocuments, DOCUMENTS, type Exchange, type OpenApi, operationsOf } from "../../support/documents.ts";
import { admin, client, newChat, newKey, newOrganization } from "../../support/harness.ts";
import { routeNamesBelow } from "../../support/routes.ts";

const { version } = JSON.parse(manifest) as { version: string };
const OPERATIONS = Object.values(DOCUMENTS).flatMap(operationsOf);

function constOf(schema: Schema | undefined): string {
  const code = schema?.properties?.code;
  return typeof code === "object" ? code.const : "";
}

/** The codes of an operation's responses, by their names. */
function codesOf(name: string): string[] {
  const known = OPERATIONS.find((each) => each.name === name);
  const { schemas = {}, responses = {} }: Partial<OpenApi["components"]> = known?.document.components ?? {};
  const listed = JSON.stringify(known?.operation.responses).matchAll(/#\/components\/responses\/(\w+)/g);
  const named = [...listed].flatMap(([, response = ""]) => [
    ...JSON.stringify(responses[response]?.content).matchAll(/#\/components\/schemas\/(\w+Error)/g),
  ]);
  return named.map(([, schema = ""]) => constOf(schemas[schema])).sort();
}

test("the committed documents match the schemas", () => {
  expect(JSON.parse(JSON.stringify(documents(version)))).toEqual(DOCUMENTS);
});

test.each([
  ["public", "/api/v1"],
  ["operator", "/admin/v1"],
] as const)("the %s document has exactly the routes below %s", (name, prefix) => {
  const described = operationsOf(DOCUMENTS[name]).map((operation) => operation.name);
  const ofPrefix = described.filter((route) => route.includes(` ${prefix}/`));
  expect(ofPrefix.sort()).toEqual(routeNamesBelow(prefix));
  const others = described.filter((route) => !ofPrefix.includes(route));
  expect(others).toEqual(name === "public" ? ["GET /web/{channelId}", "POST /web/{channelId}/media", "GET /"] : []);
});

test("each error is on an operation, except those of requests without an operation", () => {
  const described = new Set<string>(OPERATIONS.flatMap(({ name }) => codesOf(name)));
  const ofWebhooks = ["webhook_not_genuine", "handshake_refused"];
  const ofConsole = ["not_signed_in", "wrong_token", "link_invalid", "access_invalid", "access_unknown"];
  const ofPasskeys = Object.keys(ERRORS).filter((code) => code.startsWith("passkey_") || code === "sign_in_too_old");
  expect([...described, ...UNMATCHED_CODES, ...ofWebhooks, ...ofConsole, ...ofPasskeys].sort()).toEqual(
    Object.keys(ERRORS).sort(),
  );
});

test("a code that a route throws is on its operation", () => {
  expect(codesOf("POST /api/v1/chats/{id}/messages")).toEqual([
    "body_too_large",
    "chat_backlog",
    "chat_full",
    "chat_moved_on",
    "chat_not_found",
    "drafts_only",
    "handed_over",
    "idempotency_mismatch",
    "internal_error",
    "invalid_api_key",
    "ip_not_allowed",
    "media_not_found",
    "media_type",
    "media_used",
    "missing_authorization",
    "missing_field",
    "note_not_found",
    "opted_out",
    "permission_denied",
    "quota_exceeded",
    "rate_limited",
    "schedule_full",
    "sender_not_found",
    "template_not_approved",
    "template_not_found",
    "template_not_supported",
    "unavailable",
    "validation_failed",
    "window_closed",
  ]);
  expect(codesOf("GET /api/v1/key")).not.toContain("permission_denied");
  expect(codesOf("DELETE /admin/v1/members/{id}")).toEqual(expect.arrayContaining(["last_member", "member_not_found"]));
});

test("an error's example has its text only in the field of its shape", () => {
  for (const { components } of Object.values(DOCUMENTS)) {
    for (const { content } of Object.values(components.responses)) {
      const examples = content?.["application/json"]?.examples ?? {};
      for (const [code, { value }] of Object.entries(examples)) {
        const { shape } = ERRORS[code as ErrorCode];
        expect(Object.keys(value)).toEqual([shape, "code", ...(code === "validation_failed" ? ["errors"] : [])]);
      }
    }
  }
});

test("each public operation names the permission that its route needs", async () => {
  const { organizationId } = await newOrganization();
  const bare = client((await newKey(organizationId, { permissions: [] })).secret);
  for (const { name, operation } of operationsOf(DOCUMENTS.public)) {
    if (!name.includes("/api/v1/")) continue;
    const [method = "", path = ""] = name.replace("/api/v1", "").split(" ");
    const { body } = await bare(method, path.replace(/\{\w+\}/g, "x"));
    const named = PERMISSIONS.filter((permission) => JSON.stringify(operation).includes(`\`${permission}\``));
    const wanted = PERMISSIONS.filter((permission) => body.message?.match(/\w+:\w+/g)?.includes(permission));
    expect(named, name).toEqual(wanted);
  }
});

test("the codes of failed messages are those of the guide", () => {
  const [, table = ""] = guide.split("| code of a FAILED message |");
  const listed = [...(table.split("\n\n")[0] ?? "").matchAll(/^\| (.*?) \|/gm)].flatMap(
    ([, cell = ""]) => cell.match(/\w+/g) ?? [],
  );
  const described = JSON.stringify(DOCUMENTS.public.components.schemas.Message);
  expect(listed.length).toBeGreaterThan(5);
  for (const code of listed.filter((each) => each !== "code" && !each.startsWith("_")))
    expect(described).toContain(code);
});

test("no document contains a secret", () => {
  for (const document of Object.values(DOCUMENTS)) {
    expect(JSON.stringify(document)).not.toMatch(/ply_[geu]\w{53}/);
  }
});

/** The request and the response of reading a chat. */
async function exchange(change: Partial<Exchange> = {}): Promise<Exchange> {
  const { api, channelId } = await newOrganization();
  const path = `/chats/${(await newChat(api, channelId)).id}`;
  const { headers, body, text } = await api("GET", path);
  const response = new Response(text, { headers });
  return {
    method: "GET",
    path: `/api/v1${path}`,
    requestHeaders: {},
    sent: undefined,
    response,
    text,
    received: body,
    ...change,
  };
}

test("a response that the documents describe passes", async () => {
  compareToDocuments(await exchange());
});

test("a response with an extra field, a missing field or a wrong type fails", async () => {
  const good = await exchange();
  const { chat } = good.received as { chat: Record<string, unknown> };
  const { metadata: _, ...less } = chat;
  const { contact } = chat as { contact: object };
  for (const other of [
    { ...chat, more: 1 },
    less,
    { ...chat, createdAt: 1 },
    { ...chat, createdAt: "yesterday" },
    { ...chat, lastMessageAt: 0 },
    { ...chat, contact: { ...contact, more: 1 } },
    { ...chat, channel: null },
  ]) {
    const changed = { ...good, received: { chat: other } };
    expect(() => compareToDocuments(changed), JSON.stringify(other)).toThrow("not as the OpenAPI document says");
  }
});

test("a response with another status, content type, body or header fails", async () => {
  const good = await exchange();
  const { headers } = good.response;
  const without = (name: string) => new Headers([...headers].filter(([each]) => each !== name));
  for (const [response, words] of [
    [new Response(good.text, { status: 202, headers }), "does not list this status"],
    [
      new Response(good.text, { headers: { ...Object.fromEntries(headers), "Content-Type": "text/plain" } }),
      "text/plain",
    ],
    [new Response(good.text, { headers: without("x-request-id") }), "X-Request-Id is missing"],
    [new Response(good.text, { headers: without("x-ratelimit-reset") }), "X-RateLimit-Reset is missing"],
    [
      new Response(good.text, { headers: { ...Object.fromEntries(headers), "X-RateLimit-Reset": "soon" } }),
      "X-RateLimit-Reset",
    ],
    [new Response(null, { status: 304, headers }), "does not list this status"],
  ] as const) {
    expect(() => compareToDocuments({ ...good, response }), words).toThrow(words);
  }
});

test("an error of another operation, with the other text field or under another status fails", async () => {
  const good = await exchange();
  const answered = (status: number, received: object): Exchange => {
    const { headers } = good.response;
    return { ...good, response: Response.json(received, { status, headers }), text: "…", received };
  };
  compareToDocuments(answered(404, { error: "Chat not found", code: "chat_not_found" }));
  for (const other of [
    answered(404, { message: "Chat not found", code: "chat_not_found" }),
    answered(404, { error: "Chat not found", message: "Chat not found", code: "chat_not_found" }),
    answered(404, { error: "Message not found", code: "message_not_found" }),
    answered(409, { error: "Chat not found", code: "chat_not_found" }),
    { ...answered(404, { error: "Chat not found", code: "chat_not_found" }), path: "/api/v1/nowhere" },
    { ...answered(409, { error: "Not found", code: "not_found" }), path: "/api/v1/nowhere" },
  ]) {
    expect(() => compareToDocuments(other), JSON.stringify(other)).toThrow("not as the OpenAPI document says");
  }
});

test("an accepted request that the documents don't describe fails", async () => {
  const { api, channelId, organizationId } = await newOrganization();
  const path = `/api/v1/chats/${(await newChat(api, channelId)).id}/messages`;
  const { headers, body, text } = await api("POST", path.slice("/api/v1".length), { content: "Hello" });
  const response = new Response(text, { status: 201, headers });
  const taken = { method: "POST", path, requestHeaders: {}, sent: {}, response, text, received: body };
  compareToDocuments({ ...taken, sent: { content: "Hello", type: null } });
  const unknown = { content: "Hello", unknown: 1 };
  const warned = { ...body, warnings: ["unknown is not a field"] };
  compareToDocuments({ ...taken, sent: unknown, received: warned });
  expect(() => compareToDocuments({ ...taken, sent: unknown })).toThrow("does not warn");
  expect(() => compareToDocuments({ ...taken, sent: { content: "Hello" }, received: warned })).toThrow("It warns of");
  for (const sent of [undefined, {}, { content: "" }, { content: "Hello", type: "CAROUSEL" }]) {
    expect(() => compareToDocuments({ ...taken, sent }), JSON.stringify(sent)).toThrow("not as the OpenAPI document");
  }
  const idempotent = { ...taken, sent: { content: "Hello" }, requestHeaders: { "Idempotency-Key": "x".repeat(256) } };
  expect(() => compareToDocuments(idempotent)).toThrow("not as the OpenAPI document");
  const list = await admin("GET", `/organizations/${organizationId}/keys?limit=100`);
  const listed = { ...taken, method: "GET", sent: undefined, received: list.body };
  const listedAt = `/admin/v1/organizations/${organizationId}/keys?limit=`;
  const listedResponse = new Response(list.text, { headers: list.headers });
  compareToDocuments({ ...listed, path: `${listedAt}100`, response: listedResponse });
  for (const wrong of ["0", "101", "ten"]) {
    const other = { ...listed, path: `${listedAt}${wrong}`, response: listedResponse };
    expect(() => compareToDocuments(other), wrong).toThrow("not as the OpenAPI document");
  }
});
