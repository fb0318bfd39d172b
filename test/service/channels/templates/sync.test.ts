import { expect, test, vi } from "vitest";
import { countRoundTrips } from "../../../support/faults.ts";
import { admin, created, expectError, expectFaults, newChannel, newTemplate } from "../../../support/harness.ts";
import { countRowsWritten } from "../../../support/rows-written.ts";
import { fakeMeta, listed, syncedOrganization, WABA } from "./waba.ts";

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test("a sync stores what the network has, with the parts of each template and its state", async () => {
  const components = [
    { type: "HEADER", format: "TEXT", text: "Order {{1}}" },
    { type: "BODY", text: "Hi {{1}}, see {{2}}" },
  ];
  const meta = fakeMeta({ templates: [listed("order", { id: "77", components, status: "PAUSED" })] });
  const { sync, list, organizationId } = await syncedOrganization();
  const answer = await sync();
  expect([answer.status, answer.body]).toEqual([200, { created: 1, updated: 0, skipped: 0 }]);
  expect(await list()).toEqual([
    {
      id: expect.stringMatching(/^tpl_/),
      organizationId,
      name: "order",
      language: "en_US",
      body: "Hi {{1}}, see {{2}}",
      variables: ["1", "2"],
      wabaId: WABA,
      components,
      parameterFormat: "POSITIONAL",
      network: {
        id: "77",
        status: "PAUSED",
        category: "UTILITY",
        quality: "GREEN",
        rejectedReason: null,
        syncedAt: TIME,
      },
      createdAt: TIME,
      updatedAt: TIME,
    },
  ]);
  const [url] = meta.lists;
  expect(url?.pathname).toMatch(new RegExp(`/${WABA}/message_templates$`));
});

test("a sync that finds nothing new writes no row, in one query a page and one for the deleted", async () => {
  const templates = Array.from({ length: 5 }, (_, n) => listed(`t${n}`));
  fakeMeta({ templates, pageSize: 2 });
  const { sync, list } = await syncedOrganization();
  expect((await sync()).body).toEqual({ created: 5, updated: 0, skipped: 0 });
  const before = await list();
  const rows = countRowsWritten();
  const roundTrips = countRoundTrips();
  expect((await sync()).body).toEqual({ created: 0, updated: 0, skipped: 0 });
  expect(await rows()).toBe(0);
  // Three pages, those that are gone, and three reads of the channel before the act.
  expect(roundTrips()).toBeLessThanOrEqual(7);
  expect(await list()).toEqual(before);
});

test("what differs is written, and what the network no longer has is kept as DELETED", async () => {
  const meta = fakeMeta({ templates: [listed("a"), listed("b"), listed("c")] });
  const { sync, list } = await syncedOrganization();
  await sync();
  meta.templates = [
    listed("a", { status: "PAUSED" }),
    listed("b"),
    listed("a", { language: "de", components: [{ type: "BODY", text: "Hallo" }] }),
  ];
  expect((await sync()).body).toEqual({ created: 1, updated: 2, skipped: 0 });
  const states = async () =>
    (await list()).map((each: Record<string, { status: string }>) => [each.name, each.language, each.network?.status]);
  expect(await states()).toEqual(
    expect.arrayContaining([
      ["a", "en_US", "PAUSED"],
      ["b", "en_US", "APPROVED"],
      ["c", "en_US", "DELETED"],
      ["a", "de", "APPROVED"],
    ]),
  );
  expect((await sync()).body).toEqual({ created: 0, updated: 0, skipped: 0 });
  meta.templates.push(listed("c"));
  expect((await sync()).body).toEqual({ created: 0, updated: 1, skipped: 0 });
});

test("the oldest template of the same name and language becomes the network's, and the others stay", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  fakeMeta({ templates: [listed("order_shipped", { language: "en" })] });
  const { sync, list, organizationId } = await syncedOrganization();
  const oldest = await newTemplate(organizationId, "Mine");
  vi.advanceTimersByTime(1_000);
  const younger = await newTemplate(organizationId, "Mine too");
  expect((await sync()).body).toEqual({ created: 0, updated: 1, skipped: 0 });
  expect(await list()).toMatchObject([
    { id: oldest, body: "Hi {{1}}", wabaId: WABA },
    { id: younger, body: "Mine too", wabaId: null },
  ]);
  expect((await sync()).body).toEqual({ created: 0, updated: 0, skipped: 0 });
});

test("a template that can't be read is skipped and stops no other, and it is not taken for a deleted one", async () => {
  const meta = fakeMeta({ templates: [listed("a"), listed("b")] });
  const { sync, list } = await syncedOrganization();
  await sync();
  meta.templates = [null, { name: "Bad Name" }, listed("a", { components: [] }), listed("b"), listed("c")];
  expect((await sync()).body).toEqual({ created: 1, updated: 0, skipped: 3 });
  expect((await list()).map((each: { network: { status: string } }) => each.network.status)).toEqual([
    "APPROVED",
    "APPROVED",
    "APPROVED",
  ]);
});

test("an organization without room gets no more templates, and those that it has are updated", async () => {
  const meta = fakeMeta({ templates: [listed("a")] });
  const { sync, list, organizationId } = await syncedOrganization();
  await sync();
  await admin("PATCH", `/organizations/${organizationId}`, { limits: { templates: 2 } });
  meta.templates = [listed("b"), listed("c"), listed("a", { status: "DISABLED" })];
  expect((await sync()).body).toEqual({ created: 1, updated: 1, skipped: 1 });
  expect(await list()).toHaveLength(2);
});

test("two syncs at once store each template once", async () => {
  fakeMeta({ templates: [listed("a"), listed("b")] });
  const { sync, list } = await syncedOrganization();
  const [one, other] = await Promise.all([sync(), sync()]);
  expect([one.status, other.status]).toEqual([200, 200]);
  expect(await list()).toHaveLength(2);
});

test("the same template on two pages is stored once, and a list that never ends does end", async () => {
  const meta = fakeMeta({ templates: [listed("a"), listed("a")], pageSize: 1 });
  const { sync, list } = await syncedOrganization();
  expect((await sync()).body).toMatchObject({ created: 1, updated: 0 });
  meta.answer = () => {
    const paging = { cursors: { after: `again ${meta.lists.length}` }, next: "https://graph.test/next" };
    return Response.json({ data: [], paging });
  };
  meta.lists = [];
  expect((await sync()).status).toBe(200);
  expect(meta.lists).toHaveLength(70);
  // It may have had more.
  expect((await list())[0].network.status).toBe("APPROVED");
});

test("name, body and language of a synced template are the network's", async () => {
  fakeMeta({ templates: [listed("a")] });
  const { sync, list } = await syncedOrganization();
  await sync();
  const [template] = await list();
  for (const change of [{ name: "b" }, { language: "de" }, { body: "Hi" }]) {
    expectError(await admin("PATCH", `/templates/${template.id}`, change), 409, "template_synced");
  }
  expect(await list()).toEqual([template]);
  const { name, language, body } = template;
  expect((await admin("PATCH", `/templates/${template.id}`, { name, language, body })).status).toBe(200);
  expect((await admin("PATCH", `/templates/${template.id}`, {})).status).toBe(200);
  expect((await admin("DELETE", `/templates/${template.id}`)).status).toBe(200);
  expect((await sync()).body).toEqual({ created: 1, updated: 0, skipped: 0 });
});

test("a channel without an account or without templates is a 400", async () => {
  const { organizationId, channelId } = await syncedOrganization();
  const telegram = await newChannel(organizationId, "telegram");
  const web = await newChannel(organizationId, "web");
  created(
    await admin("PATCH", `/channels/${channelId}`, { settings: null }).then((each) => ({ ...each, status: 201 })),
  );
  for (const id of [telegram, web, channelId]) {
    expectFaults(await admin("POST", `/channels/${id}/templates/sync`), "id");
  }
  expectError(await admin("POST", "/channels/chn_gHs8Kd03LqPz6YvA/templates/sync"), 404, "channel_not_found");
});

test.each(["abc", "", "1".repeat(33), 7])("the account %j is a 400", async (wabaId) => {
  const { channelId } = await syncedOrganization();
  expectFaults(await admin("PATCH", `/channels/${channelId}`, { settings: { wabaId } }), "settings.wabaId");
});

test("a network that refuses is a 409, and one that does not answer a 503, without the access token", async () => {
  const meta = fakeMeta({ templates: [] });
  const { sync, list } = await syncedOrganization();
  meta.answer = () => Response.json({ error: { code: 190, message: "Bad whatsapp-access-token" } }, { status: 401 });
  expectError(await sync(), 409, "refused_by_network", /Bad \[token\]/);
  for (const answer of [
    () => new Response("<html>", { status: 502 }),
    () => Response.json({ error: { code: 4, message: "Slow down" } }, { status: 400 }),
    () => {
      throw new Error("Network connection lost.");
    },
  ]) {
    meta.answer = answer;
    expectError(await sync(), 503, "unavailable");
  }
  expect(await list()).toEqual([]);
});
