import { expect, test } from "vitest";
import { documents } from "../../../src/openapi/documents.ts";
import { type Answer, admin, client, created, expectFaults, newChat, newKey } from "../../support/harness.ts";
import { heldDatabase } from "../../support/held-database.ts";
import { newManager } from "../management/manager.ts";

interface Schema {
  $ref?: string;
  type?: string | string[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
}

const DOCUMENTS = Object.values(documents("0.0.0")) as unknown as {
  paths: Record<
    string,
    Record<string, { operationId: string; requestBody?: { content: Record<string, { schema: Schema }> } }>
  >;
  components: { schemas: Record<string, Schema> };
}[];

/** The schema of each body that a method takes, by the id of its operation. */
function bodiesOf(method: "post" | "patch"): [string, Schema, (schema: Schema) => Schema[]][] {
  return DOCUMENTS.flatMap(({ paths, components }) => {
    const formsOf = (schema: Schema): Schema[] => {
      if (schema.$ref) return formsOf(components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});
      return schema.anyOf ? schema.anyOf.flatMap(formsOf) : [schema];
    };
    return Object.values(paths).flatMap((path) => {
      const schema = path[method]?.requestBody?.content["application/json"]?.schema;
      return schema ? [[path[method]?.operationId ?? "", schema, formsOf] as [string, Schema, typeof formsOf]] : [];
    });
  });
}

const isA = (type: string) => (schema: Schema) => [schema.type].flat().includes(type);

/** The resources that are patched, and how a field of one is read. */
async function resources() {
  const manager = await newManager();
  const { key } = await newKey(manager.organizationId, { rateLimit: { limit: 40, windowSeconds: 20 } });
  const credentials = { phoneNumberId: "15550001111", accessToken: "token-0000", appSecret: "secret-0000" };
  const network = created(await manager.api("POST", "/channels", { kind: "whatsapp", name: "W", credentials })).channel;
  const chat = await newChat(manager.api, manager.channelId);
  const { secret } = await newKey(manager.organizationId);
  return { ...manager, otherId: key.id, networkId: network.id as string, chatId: chat.id, chats: client(secret) };
}
type Resources = Awaited<ReturnType<typeof resources>>;

interface Merge {
  patch: (at: Resources, body: object) => Promise<Answer>;
  /** What is sent one after the other, and what the field is then. */
  steps: [sent: object | null, shown: object | null][];
}

const organization = (at: Resources, body: object) => admin("PATCH", `/organizations/${at.organizationId}`, body);
const ownOrganization = (at: Resources, body: object) => at.api("PATCH", "/organization", body);
const key = (at: Resources, body: object) => at.api("PATCH", `/keys/${at.otherId}`, body);
const network = (at: Resources, body: object) => at.api("PATCH", `/channels/${at.networkId}`, body);
const site = (at: Resources, body: object) => admin("PATCH", `/channels/${at.channelId}`, body);
const chat = (at: Resources, body: object) => at.chats("PATCH", `/chats/${at.chatId}`, body);
const rows = { members: 1_000, templates: 1_000, channels: 200 };

/** Each field of a PATCH that is an object. */
const contactNamed = (name: string | null) => {
  const address = expect.any(String);
  return { address, name, username: null, personId: null, addresses: [address] };
};

const searchIn = (...states: string[]) => expect.objectContaining({ state: expect.toBeOneOf(states) });
/** Null is as an absent field. */
const SEARCH_STEPS: Merge["steps"] = [
  [null, searchIn("off")],
  // It has only a chat to index.
  [{ on: true }, searchIn("filling", "on")],
  [{ on: false }, searchIn("off")],
  [null, searchIn("off")],
];

const MERGES: Record<string, Merge> = {
  "changeOrganization limits": {
    patch: organization,
    steps: [
      [
        { chats: 7, members: 8 },
        { ...rows, chats: 7, members: 8 },
      ],
      [{ templates: 9 }, { ...rows, chats: 7, members: 8, templates: 9 }],
      [{ members: null }, { ...rows, chats: 7, templates: 9 }],
      [{}, { ...rows, chats: 7, templates: 9 }],
      [null, { ...rows, chats: null }],
    ],
  },
  "changeOrganization selfService": {
    patch: organization,
    steps: [
      [null, null],
      [
        { maxKeys: 7, maxPerSecond: 8 },
        { maxKeys: 7, maxPerSecond: 8, monthlyQuota: null },
      ],
      [{ monthlyQuota: 9 }, { maxKeys: 7, maxPerSecond: 8, monthlyQuota: 9 }],
      [{ maxPerSecond: null }, { maxKeys: 7, maxPerSecond: null, monthlyQuota: 9 }],
      [null, null],
    ],
  },
  "changeOrganization search": { patch: organization, steps: SEARCH_STEPS },
  "changeOwnOrganization search": { patch: ownOrganization, steps: SEARCH_STEPS },
  "changeKey rateLimit": {
    patch: key,
    steps: [
      [{ limit: 50 }, { limit: 50, windowSeconds: 20 }],
      [{ windowSeconds: 30 }, { limit: 50, windowSeconds: 30 }],
      [{ limit: null }, { limit: 300, windowSeconds: 30 }],
      [
        { limit: 9, windowSeconds: null },
        { limit: 9, windowSeconds: 60 },
      ],
      [{}, { limit: 9, windowSeconds: 60 }],
      [null, { limit: 300, windowSeconds: 60 }],
    ],
  },
  "changeChannel credentials": {
    patch: network,
    steps: [
      [{ accessToken: "token-1111" }, { phoneNumberId: "1111", accessToken: "1111", appSecret: "0000" }],
      [{ appSecret: "secret-2222" }, { phoneNumberId: "1111", accessToken: "1111", appSecret: "2222" }],
      [{}, { phoneNumberId: "1111", accessToken: "1111", appSecret: "2222" }],
    ],
  },
  "changeChannel settings": {
    patch: network,
    steps: [
      [{ perSecond: 5 }, { perSecond: 5 }],
      [{}, { perSecond: 5 }],
      [{ perSecond: null }, { perSecond: 80 }],
      [{ perSecond: 5 }, { perSecond: 5 }],
      [null, { perSecond: 80 }],
    ],
  },
  "changeChannel limits": {
    patch: site,
    steps: [
      [{ chats: 7 }, { chats: 7, origins: 20 }],
      [{ origins: 30 }, { chats: 7, origins: 30 }],
      [{ chats: null }, { chats: null, origins: 30 }],
      [null, { chats: null, origins: 20 }],
    ],
  },
  "updateChat contact": {
    patch: chat,
    steps: [
      [{ name: "Maya" }, contactNamed("Maya")],
      [{}, contactNamed("Maya")],
      [{ name: null }, contactNamed(null)],
      [{ name: "Maya" }, contactNamed("Maya")],
      [null, contactNamed(null)],
    ],
  },
  "updateChat metadata": {
    patch: chat,
    steps: [
      [
        { a: "1", b: "2" },
        { a: "1", b: "2" },
      ],
      [{ c: "3" }, { a: "1", b: "2", c: "3" }],
      [{ a: null }, { b: "2", c: "3" }],
      [null, {}],
    ],
  },
  // What was said can't be taken back, only changed.
  "updateChat marketing": {
    patch: chat,
    steps: [
      [{ optedOut: true }, { optedOut: true, at: expect.any(String), by: "key" }],
      [{ optedOut: false }, { optedOut: false, at: expect.any(String), by: "key" }],
    ],
  },
};

test("each field of a PATCH that is an object has a case", () => {
  const fields = bodiesOf("patch").flatMap(([id, schema, formsOf]) =>
    formsOf(schema).flatMap(({ properties = {} }) =>
      Object.entries(properties).flatMap(([name, field]) =>
        formsOf(field).some(isA("object")) ? [`${id} ${name}`] : [],
      ),
    ),
  );
  expect([...new Set(fields)].sort()).toEqual(Object.keys(MERGES).sort());
});

test.each(Object.entries(MERGES))("%s merges, and null restores the default", async (name, { patch, steps }) => {
  const at = await resources();
  const field = name.split(" ")[1] ?? "";
  for (const [sent, shown] of steps) {
    const answer = await patch(at, { [field]: sent });
    expect(answer.status, answer.text).toBe(200);
    const [resource] = Object.values(answer.body) as [Record<string, unknown>];
    expect(resource[field], JSON.stringify(sent)).toEqual(shown);
  }
});

test("a list in a PATCH replaces the one before, and null restores the default", async () => {
  const { api, otherId, channelId } = await newManagerWithKey();
  const list = async (ipAllowlist: string[] | null) =>
    (await api("PATCH", `/keys/${otherId}`, { ipAllowlist })).body.key.ipAllowlist;
  expect(await list(["192.0.2.1"])).toEqual(["192.0.2.1"]);
  expect(await list(["192.0.2.2"])).toEqual(["192.0.2.2"]);
  expect(await list(null)).toEqual([]);
  const origins = async (allowedOrigins: string[] | null) =>
    (await api("PATCH", `/channels/${channelId}`, { settings: { allowedOrigins } })).body.channel.settings
      .allowedOrigins;
  expect(await origins(["https://a.example"])).toEqual(["https://a.example"]);
  expect(await origins(["https://b.example"])).toEqual(["https://b.example"]);
  expect(await origins(null)).toEqual([]);
});

async function newManagerWithKey() {
  const manager = await newManager();
  return { ...manager, otherId: (await newKey(manager.organizationId)).key.id };
}

test("a rate limit is checked as a whole after the merge, however many change its parts at once", async () => {
  const { api, otherId } = await newManagerWithKey();
  const path = `/keys/${otherId}`;
  await api("PATCH", path, { rateLimit: { limit: 2_000, windowSeconds: 2 } });
  expectFaults(await api("PATCH", path, { rateLimit: { windowSeconds: 1 } }), "rateLimit.limit");
  expectFaults(await api("PATCH", path, { rateLimit: { limit: 2_001 } }), "rateLimit.limit");
  await api("PATCH", path, { rateLimit: { limit: 1_000, windowSeconds: 2 } });
  // Each fits what it reads; both together would be 2,000 in one second.
  await Promise.all([
    api("PATCH", path, { rateLimit: { limit: 2_000 } }),
    admin("PATCH", path, { rateLimit: { windowSeconds: 1 } }),
  ]);
  const { limit, windowSeconds } = (await api("GET", path)).body.key.rateLimit;
  expect(limit).toBeLessThanOrEqual(1_000 * windowSeconds);
});

/** Objects that the operator patches: the first part while the second one is written. */
const CONCURRENT: [resource: "organizations" | "channels", first: object, second: object, shown: object][] = [
  [
    "organizations",
    { limits: { chats: 7 } },
    { limits: { members: 8 } },
    { limits: { ...rows, chats: 7, members: 8 } },
  ],
  [
    "organizations",
    { selfService: { maxKeys: 3 } },
    { selfService: { maxPerSecond: 4 } },
    { selfService: { maxKeys: 3, maxPerSecond: 4, monthlyQuota: null } },
  ],
  [
    "organizations",
    { name: "First" },
    { limits: { members: 8 } },
    { name: "First", limits: { chats: null, members: 8 } },
  ],
  ["channels", { limits: { chats: 7 } }, { limits: { origins: 8 } }, { limits: { chats: 7, origins: 8 } }],
];

test.each(CONCURRENT)(
  "a PATCH of %s %j that comes while %j is written is kept",
  async (resource, first, second, shown) => {
    const { organizationId, channelId } = await newManager();
    const path = `/${resource}/${resource === "channels" ? channelId : organizationId}`;
    const bindings = heldDatabase(new RegExp(`^update "${resource}"`), () => admin("PATCH", path, first));
    expect((await admin("PATCH", path, second, bindings)).status).toBe(200);
    const { organization, channel } = (await admin("GET", path)).body;
    expect(organization ?? channel).toMatchObject(shown);
  },
);

test("each optional field in the body of a POST takes null, which means absent", () => {
  const refusing: string[] = [];
  const walk = (id: string, schema: Schema, formsOf: (schema: Schema) => Schema[]) => {
    for (const { properties = {}, required = [] } of formsOf(schema)) {
      for (const [name, field] of Object.entries(properties)) {
        const path = `${id}.${name}`;
        if (!required.includes(name) && !formsOf(field).some(isA("null"))) refusing.push(path);
        walk(path, field, formsOf);
      }
    }
  };
  const bodies = bodiesOf("post");
  expect(bodies.length).toBeGreaterThan(15);
  for (const [id, schema, formsOf] of bodies) walk(id, schema, formsOf);
  // Each of these is required by its kind of channel, or is of JSON-RPC.
  expect(refusing.filter((path) => !/^(createChannel\.credentials|callAsAgent)\./.test(path))).toEqual([]);
});
