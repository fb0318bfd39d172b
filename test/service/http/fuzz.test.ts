import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import {
  type Answer,
  type Client,
  client,
  newChat,
  newKey,
  newOrganization,
  newTemplate,
} from "../../support/harness.ts";

let api: Client;
let chatId: string;
let channelId: string;
let templateId: string;
beforeAll(async () => {
  const organization = await newOrganization();
  const rateLimit = { limit: 100_000, windowSeconds: 3_600 };
  api = client((await newKey(organization.organizationId, { rateLimit })).secret);
  channelId = organization.channelId;
  chatId = (await newChat(api, channelId)).id;
  templateId = await newTemplate(organization.organizationId, "Hi {{name}}");
});

const ODD = ["", " ", "\0", "\ud800", "\u202e", "__proto__", "constructor", "' or 1=1 --", "%s{{7*7}}", "{{name}}"];
const text = fc.oneof(fc.constantFrom(...ODD), fc.string({ unit: "binary" }), fc.string({ minLength: 400 }));
const number = fc.constantFrom(0, -0, -1, 1.5, 1e308, 2 ** 53, Number.MIN_VALUE);
const anything = fc.oneof(text, number, fc.constantFrom(null, true, [], {}), fc.jsonValue());
const pairs = fc.dictionary(text, fc.oneof({ weight: 4, arbitrary: text }, anything), { noNullPrototype: true });

/** Usually `value`, sometimes anything. */
function mostly<T>(value: fc.Arbitrary<T>) {
  return fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: anything });
}

/** A body with the fields of the documents, or similar ones. */
function bodies(fields: Record<string, fc.Arbitrary<unknown>>) {
  return fc.record({ ...fields, unknown: anything }, { requiredKeys: [] }).map((body) => JSON.stringify(body));
}

/** Not an internal error, and one text field. */
function expectSound(answer: Answer, allowed: number[]): void {
  expect(allowed, answer.text).toContain(answer.status);
  const shapes = [answer.body.message, answer.body.error].filter((field) => typeof field === "string");
  expect(shapes.length, answer.text).toBe(answer.status < 400 ? 0 : 1);
}

test("no body of a send causes a 500, and an accepted message reads as it was returned", async () => {
  const send = bodies({
    content: mostly(fc.constant("Hello")),
    type: mostly(fc.constantFrom("TEXT", "IMAGE", "TEMPLATE")),
    senderId: fc.oneof(fc.constant(null), anything),
    templateId: mostly(fc.constantFrom(null, templateId)),
    variables: mostly(pairs),
    mediaUrl: mostly(fc.webUrl({ validSchemes: ["https", "http"], withFragments: true })),
    metadata: mostly(pairs),
  });
  await fc.assert(
    fc.asyncProperty(send, async (body) => {
      const answer = await api("POST", `/chats/${chatId}/messages`, body);
      expectSound(answer, [201, 400, 404]);
      if (answer.status !== 201) return;
      const read = await api("GET", `/chats/${chatId}/messages/${answer.body.message.id}`);
      expect(read.text).toBe(answer.text);
    }),
    { numRuns: 200 },
  );
  expectSound(await api("GET", `/chats/${chatId}/messages?limit=100`), [200]);
});

test("no body of a new chat causes a 500", async () => {
  const chat = bodies({
    channelId: mostly(fc.constant(channelId)),
    contact: mostly(fc.record({ address: mostly(text), name: mostly(text) }, { requiredKeys: ["address"] })),
    metadata: mostly(pairs),
  });
  await fc.assert(
    fc.asyncProperty(chat, async (body) => expectSound(await api("POST", "/chats", body), [200, 201, 400, 404])),
    { numRuns: 150 },
  );
  expectSound(await api("GET", "/chats?limit=100"), [200]);
});

test("no query and no id in a path causes a 500", async () => {
  const part = fc.oneof(text, fc.stringMatching(/^\d{1,17}$/), fc.constantFrom("1", "20", chatId)).map(encoded);
  const name = fc.constantFrom("page", "limit", "before", "after", "channel", "contact", "__proto__");
  const query = fc
    .array(fc.tuple(name, part), { maxLength: 3 })
    .map((all) => all.map((pair) => pair.join("=")).join("&"));
  const id = fc.oneof(fc.constant(chatId), part);
  const path = fc.oneof(
    query.map((text) => `/chats?${text}`),
    fc.tuple(id, query).map(([chat, text]) => `/chats/${chat}/messages?${text}`),
    fc.tuple(id, part).map(([chat, message]) => `/chats/${chat}/messages/${message}`),
  );
  await fc.assert(
    fc.asyncProperty(path, async (each) => {
      const answer = await api("GET", each);
      if (answer.status === 200) expect(answer.body).not.toBeNull();
      else expectSound(answer, [400, 404]);
    }),
    { numRuns: 200 },
  );
});

/** Percent-encodes text. A lone surrogate can't be encoded, and becomes an invalid sequence. */
function encoded(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : "%ED%A0";
}
