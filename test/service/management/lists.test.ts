import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { admin, created, newChannel, newKey, newOrganization, statsOf } from "../../support/harness.ts";

type Make = (organizationId: string, i: number) => Promise<string>;

const made = async (answer: ReturnType<typeof admin>, what: string) => created(await answer)[what].id as string;

/** The resources of a new organization by kind, and how to create another one. */
const LISTS: [string, number, Make][] = [
  ["members", 1, (id, i) => made(admin("POST", `/organizations/${id}/members`, { name: `No. ${i}` }), "member")],
  ["channels", 1, (id) => newChannel(id, "telegram")],
  [
    "templates",
    0,
    (id, i) =>
      made(admin("POST", `/organizations/${id}/templates`, { name: `t${i}`, language: "en", body: "Hi" }), "template"),
  ],
  ["keys", 1, async (id) => (await newKey(id)).key.id],
  [
    "chats",
    0,
    async (id, i) => {
      const [channel] = (await admin("GET", `/organizations/${id}/channels`)).body.channels;
      return made(
        admin("POST", `/organizations/${id}/chats`, { channelId: channel.id, contact: { address: `a${i}` } }),
        "chat",
      );
    },
  ],
];

test.each(LISTS)("%s are listed page by page, each once", async (plural, before, make) => {
  const { organizationId } = await newOrganization();
  const added = new Set<string>();
  for (let i = 0; i < 5 - before; i++) added.add(await make(organizationId, i));
  const page = (query: string) => admin("GET", `/organizations/${organizationId}/${plural}?${query}`);
  const seen: string[] = [];
  for (const [number, hasMore] of [
    [1, true],
    [2, true],
    [3, false],
  ] as const) {
    const { body } = await page(`page=${number}&limit=2`);
    expect(Object.keys(body).sort()).toEqual([plural, "pagination"].sort());
    // The list of chats also says where its walk stands.
    expect(body.pagination).toMatchObject({ page: number, limit: 2, total: 5, totalPages: 3, hasMore });
    seen.push(...body[plural].map((row: { id: string }) => row.id));
  }
  expect(new Set(seen).size).toBe(5);
  expect(added.isSubsetOf(new Set(seen))).toBe(true);
  const past = await page("page=4&limit=2");
  expect([past.status, past.body[plural], past.body.pagination]).toMatchObject([
    200,
    [],
    { page: 4, limit: 2, total: 5, totalPages: 3, hasMore: false },
  ]);
  const whole = (await page("")).body;
  expect(whole.pagination).toMatchObject({ page: 1, limit: 20, total: 5, totalPages: 1, hasMore: false });
  expect(whole[plural].map((row: { id: string }) => row.id)).toEqual(seen);
});

test("organizations are listed oldest first, the new one last", async () => {
  // Others may have been made before a clock was set back.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
  const { organizationId } = await newOrganization();
  const { pagination } = (await admin("GET", "/organizations?limit=1")).body;
  const last = (await admin("GET", `/organizations?limit=1&page=${pagination.total}`)).body;
  expect(last.organizations.map(({ id }: { id: string }) => id)).toEqual([organizationId]);
  expect(last.pagination).toMatchObject({ hasMore: false, totalPages: pagination.total });
});

test("the chats of an organization support the filters and the cursor of the public list", async () => {
  const { organizationId, channelId, api } = await newOrganization();
  const telegram = await newChannel(organizationId, "telegram");
  const open = async (channel: string, address: string) =>
    created(await admin("POST", `/organizations/${organizationId}/chats`, { channelId: channel, contact: { address } }))
      .chat.id;
  const web = await open(channelId, "anna");
  const other = await open(telegram, "4711");
  for (const query of [
    "",
    "?channel=web",
    `?channel=${telegram}`,
    "?contact=anna",
    "?contact=nobody",
    "?limit=1",
    `?before=${other}`,
    `?before=${web}&limit=1`,
  ]) {
    const { status, body } = await admin("GET", `/organizations/${organizationId}/chats${query}`);
    expect(status).toBe(200);
    expect(body).toEqual((await api("GET", `/chats${query}`)).body);
  }
});

test("the statistics of an unknown organization are a 404, and a page past the end is empty", async () => {
  expect((await admin("GET", "/stats?organization=org_gaaaaaaaaaaaaaaa")).status).toBe(404);
  const { organizationId } = await newOrganization();
  const { body } = await admin("GET", `/stats?organization=${organizationId}&page=9`);
  expect(body).toMatchObject({ channels: [], keys: [], pagination: { page: 9, total: 1, hasMore: false } });
});

test("reading the statistics calls no object", async () => {
  const { organizationId } = await newOrganization();
  const spies = [env.KEYS, env.CHATS, env.CHANNELS].map((namespace) => vi.spyOn(namespace, "getByName"));
  await statsOf(organizationId);
  expect(spies.map((spy) => spy.mock.calls.length)).toEqual([0, 0, 0]);
});
