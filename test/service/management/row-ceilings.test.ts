import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { ROW_CEILINGS, type RowKind } from "../../../src/model/organization.ts";
import { type Answer, admin, created, expectError, expectFaults, newOrganization } from "../../support/harness.ts";
import { newManager } from "./manager.ts";

/** What creates one more row of each kind. */
const BODIES: Record<RowKind, object> = {
  members: { name: "Bea" },
  templates: { name: "order", language: "en", body: "Hi" },
  channels: { kind: "web", name: "Site" },
};

const KINDS = Object.keys(ROW_CEILINGS) as RowKind[];
const codeOf = (kind: RowKind) => `${kind.slice(0, -1)}_limit`;

/** Stores copies of a row that an organization has, until there are `total` of its kind. */
async function fill(kind: RowKind | "api_keys", organizationId: string, total: number): Promise<void> {
  const { results } = await env.DB.prepare(`select * from ${kind} where organization_id = ?`)
    .bind(organizationId)
    .all();
  const columns = Object.keys(results[0] ?? {});
  const values = columns.map((name) => (name === "id" ? `'x' || row.id || '_' || n.value` : `row.${name}`));
  await env.DB.prepare(
    `insert into ${kind} (${columns.join(", ")}) select ${values.join(", ")} from ${kind} row,
       (with recursive n (value) as (select 1 union all select value + 1 from n where value < ?) select value from n) n
     where row.id = ?`,
  )
    .bind(total - results.length, results[0]?.id)
    .run();
}

async function countOf(kind: RowKind, organizationId: string): Promise<number> {
  const counted = env.DB.prepare(`select count(*) as n from ${kind} where organization_id = ?`).bind(organizationId);
  return (await counted.first<number>("n")) ?? 0;
}

test.each(KINDS)("of many requests at once for the last %s, exactly one succeeds", async (kind) => {
  const { api, organizationId } = await newManager();
  if (kind === "templates") created(await api("POST", "/templates", BODIES.templates));
  const ceiling = ROW_CEILINGS[kind];
  await fill(kind, organizationId, ceiling - 1);
  const answers = await Promise.all(Array.from({ length: 8 }, () => api("POST", `/${kind}`, BODIES[kind])));
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(7);
  for (const answer of refused)
    expectError(answer, 409, codeOf(kind), `has ${ceiling} ${kind}, and its limit is ${ceiling}. Delete one`);
  expect(await countOf(kind, organizationId)).toBe(ceiling);
  expectError(await admin("POST", `/organizations/${organizationId}/${kind}`, BODIES[kind]), 409, codeOf(kind));
});

test.each(KINDS)("the operator's limits move the ceiling of %s, and null restores it", async (kind) => {
  const { organizationId } = await newOrganization();
  const path = `/organizations/${organizationId}`;
  const set = async (limits: object | null): Promise<Record<string, number>> =>
    (await admin("PATCH", path, { limits })).body.organization.limits;
  const add = (): Promise<Answer> => admin("POST", `${path}/${kind}`, BODIES[kind]);
  const now = await countOf(kind, organizationId);
  const others = { chats: null, ...ROW_CEILINGS };
  expect(await set({ [kind]: now })).toEqual({ ...others, [kind]: now });
  expectError(await add(), 409, codeOf(kind));
  // A limit below what there is removes nothing.
  await set({ [kind]: 0 });
  expect(await countOf(kind, organizationId)).toBe(now);
  expect(await set({ chats: 5 })).toEqual({ ...others, chats: 5, [kind]: 0 });
  expect(await set({ [kind]: now + 1 })).toEqual({ ...others, chats: 5, [kind]: now + 1 });
  created(await add());
  expectError(await add(), 409, codeOf(kind));
  expect(await set({ [kind]: null })).toEqual({ ...others, chats: 5 });
  created(await add());
  expect(await set(null)).toEqual(others);
  expectFaults(await admin("PATCH", path, { limits: { [kind]: -1 } }), `limits.${kind}`);
});

test("a web channel has at most 20 origins, unless the operator's limits of the channel say otherwise", async () => {
  const { api } = await newManager();
  const origins = (count: number) => Array.from({ length: count }, (_, i) => `https://shop-${i}.example`);
  const body = (count: number) => ({ kind: "web", name: "Site", settings: { allowedOrigins: origins(count) } });
  const path = "settings.allowedOrigins";
  expectFaults(await api("POST", "/channels", body(21)), path);
  const { channel } = created(await api("POST", "/channels", body(20)));
  expect(channel.limits).toEqual({ chats: null, origins: 20 });
  const patch = { settings: { allowedOrigins: origins(21) } };
  expectFaults(await api("PATCH", `/channels/${channel.id}`, patch), path);
  const limit = (count: number | null) => admin("PATCH", `/channels/${channel.id}`, { limits: { origins: count } });
  expect((await limit(21)).body.channel.limits).toEqual({ chats: null, origins: 21 });
  expect((await api("PATCH", `/channels/${channel.id}`, patch)).status).toBe(200);
  // Under a lowered limit, what was set stays.
  expect((await limit(null)).body.channel.settings.allowedOrigins).toHaveLength(21);
  expect((await api("PATCH", `/channels/${channel.id}`, { name: "Shop", settings: {} })).status).toBe(200);
  expectFaults(await api("PATCH", `/channels/${channel.id}`, patch), path);
});

test("without a ceiling of the operator, keys make at most 1,000 keys", async () => {
  const { api, organizationId } = await newManager();
  await fill("api_keys", organizationId, 999);
  // The first key was revoked.
  await env.DB.prepare("update api_keys set revoked_at = null where organization_id = ?").bind(organizationId).run();
  created(await api("POST", "/keys", { name: "The last" }));
  expectError(await api("POST", "/keys", { name: "One more" }), 409, "key_limit", "has 1000 keys");
});

/** The rows that D1 reads for a request. */
async function rowsReadBy(request: () => Promise<Answer>): Promise<number> {
  const statements: [string, unknown[]][] = [];
  const prepare = env.DB.prepare.bind(env.DB);
  const spy = vi.spyOn(env.DB, "prepare").mockImplementation((query) => {
    const prepared = prepare(query);
    const bind = prepared.bind.bind(prepared);
    prepared.bind = (...values) => {
      statements.push([query, values]);
      return bind(...values);
    };
    return prepared;
  });
  expect((await request()).status).toBe(200);
  spy.mockRestore();
  expect(statements.length).toBeGreaterThan(0);
  const read = statements.map(async ([query, values]) => {
    const { meta } = await env.DB.prepare(query)
      .bind(...values)
      .all();
    return meta.rows_read;
  });
  return (await Promise.all(read)).reduce((sum, rows) => sum + rows, 0);
}

const LISTS = ["/members", "/templates", "/channels", "/keys", "/webhooks", "/stats", "/organization"];

test("each list reads only rows of its own organization", async () => {
  const others = await newOrganization();
  created(await admin("POST", `/organizations/${others.organizationId}/templates`, BODIES.templates));
  for (const kind of KINDS) await fill(kind, others.organizationId, 2_000);
  const { api } = await newManager();
  for (const list of LISTS) {
    await api("GET", list);
    expect(await rowsReadBy(() => api("GET", list)), list).toBeLessThan(40);
  }
});
