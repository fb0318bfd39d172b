import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { runAlarm } from "../../../support/alarms.ts";
import { admin, newOrganization } from "../../../support/harness.ts";
import { objectWrites } from "../../../support/object-writes.ts";
import { countRowsWritten } from "../../../support/rows-written.ts";
import { CREDENTIALS } from "../../../support/world/factories.ts";
import { stopTheClock } from "../../chats/object/delivery/conversation.ts";
import { signed } from "../../inbound/webhook-calls.ts";
import { fakeMeta, listed, syncedOrganization, WABA } from "./waba.ts";

const DAY = 86_400_000;

stopTheClock();

interface State {
  name: string;
  network: { status: string; quality: string; category: string };
}

async function synced(...templates: object[]) {
  const meta = fakeMeta({ templates });
  const organization = await syncedOrganization();
  expect((await organization.sync()).status).toBe(200);
  meta.lists = [];
  const { channelId, list } = organization;
  /** Meta calls the channel's webhook. */
  const tell = async (field: string, fields: object, { waba = WABA, at = Date.now(), to = channelId } = {}) => {
    const named = { message_template_id: 7, message_template_name: "order", message_template_language: "en_US" };
    const changes = [{ field, value: { ...named, ...fields } }];
    const entry = [{ id: waba, time: Math.floor(at / 1_000), changes }];
    const body = JSON.stringify({ object: "whatsapp_business_account", entry });
    return (await signed({ id: to }, body, CREDENTIALS.whatsapp.appSecret)).status;
  };
  const state = async () => ((await list()) as State[]).find(({ name }) => name === "order")?.network;
  const object = () => env.CHANNELS.getByName(channelId);
  const ring = async (afterMs: number) => {
    vi.setSystemTime(Date.now() + afterMs);
    return runAlarm(object());
  };
  return { ...organization, meta, tell, state, object, ring };
}

const STATUS = "message_template_status_update";

test("what Meta tells of a template is stored at once, without a call to Meta", async () => {
  const { tell, state, meta } = await synced(listed("order"));
  vi.advanceTimersByTime(5_000);
  expect(await tell(STATUS, { event: "PAUSED" })).toBe(200);
  expect(await state()).toMatchObject({ status: "PAUSED", quality: "GREEN" });
  expect(await tell("message_template_quality_update", { new_quality_score: "RED" })).toBe(200);
  expect(await tell("template_category_update", { new_category: "MARKETING" })).toBe(200);
  expect(await state()).toMatchObject({ status: "PAUSED", quality: "RED", category: "MARKETING" });
  expect(meta.lists).toEqual([]);
});

test("news about two things that come at once are both stored", async () => {
  const { tell, state } = await synced(listed("order"));
  vi.advanceTimersByTime(5_000);
  const answers = await Promise.all([
    tell(STATUS, { event: "REJECTED", reason: "SCAM" }),
    tell("message_template_quality_update", { new_quality_score: "RED" }),
    tell("template_category_update", { new_category: "MARKETING" }),
  ]);
  expect(answers).toEqual([200, 200, 200]);
  const expected = { status: "REJECTED", rejectedReason: "SCAM", quality: "RED", category: "MARKETING" };
  expect(await state()).toMatchObject(expected);
});

test("news that are late make the channel read the templates again", async () => {
  const { tell, state, ring, meta } = await synced(listed("order"));
  vi.advanceTimersByTime(60_000);
  await tell(STATUS, { event: "PAUSED" });
  await tell("message_template_quality_update", { new_quality_score: "RED" }, { at: Date.now() - 30_000 });
  meta.templates = [listed("order", { status: "PAUSED", quality_score: { score: "RED" } })];
  await ring(60_000);
  expect(await state()).toMatchObject({ status: "PAUSED", quality: "RED" });
});

test("older news change nothing, and the same news write nothing", async () => {
  const { tell, state } = await synced(listed("order"));
  vi.advanceTimersByTime(60_000);
  await tell(STATUS, { event: "PAUSED" });
  await tell(STATUS, { event: "APPROVED" }, { at: Date.now() - 30_000 });
  expect(await state()).toMatchObject({ status: "PAUSED" });
  const rows = countRowsWritten();
  await tell(STATUS, { event: "PAUSED" });
  expect(await rows()).toBe(0);
  vi.advanceTimersByTime(1_000);
  await tell(STATUS, { event: "APPROVED" });
  expect(await state()).toMatchObject({ status: "APPROVED" });
});

test("a list that is older than the last news does not undo them", async () => {
  const { tell, state, sync } = await synced(listed("order"));
  await tell(STATUS, { event: "PAUSED" }, { at: Date.now() + 5_000 });
  expect((await sync()).body).toMatchObject({ updated: 0 });
  expect(await state()).toMatchObject({ status: "PAUSED" });
  vi.advanceTimersByTime(6_000);
  expect((await sync()).body).toMatchObject({ updated: 1 });
});

test.each<[string, string, object]>([
  ["another wording", "message_template_components_update", { message_template_element: "Hello {{1}}" }],
  ["an event that is no status", STATUS, { event: "REINSTATED" }],
  ["a template that is not known", STATUS, { event: "APPROVED", message_template_name: "new" }],
])("%s makes the channel read the templates a minute later, once", async (_name, field, fields) => {
  const { tell, ring, meta, list } = await synced(listed("order"));
  meta.templates = [listed("order", { components: [{ type: "BODY", text: "Hello {{1}}" }] }), listed("new")];
  for (let n = 0; n < 3; n++) expect(await tell(field, fields)).toBe(200);
  expect(meta.lists).toEqual([]);
  expect(await ring(60_000)).toBe(true);
  expect(meta.lists).toHaveLength(1);
  expect(((await list()) as { name: string; body: string }[]).map(({ body }) => body)).toEqual([
    "Hello {{1}}",
    "Hi {{1}}",
  ]);
});

test("news that never stop delay no reading", async () => {
  const { tell, ring, meta } = await synced(listed("order"));
  for (let n = 0; n < 3; n++) {
    await tell(STATUS, { event: "FLAGGED" });
    vi.advanceTimersByTime(20_000);
  }
  await ring(0);
  expect(meta.lists).toHaveLength(1);
});

test("news of an account that no channel has, and of another organization's, change nothing", async () => {
  const { tell, state, meta } = await synced(listed("order"));
  const { organizationId } = await newOrganization();
  const body = { kind: "whatsapp", name: "WA", credentials: CREDENTIALS.whatsapp };
  const other = (await admin("POST", `/organizations/${organizationId}/channels`, body)).body.channel.id as string;
  vi.advanceTimersByTime(5_000);
  expect(await tell(STATUS, { event: "PAUSED" }, { to: other })).toBe(200);
  expect(await tell(STATUS, { event: "PAUSED" }, { waba: "1" })).toBe(200);
  expect(await tell(STATUS, { event: "PAUSED", message_template_name: "Not A Name" })).toBe(200);
  expect(await state()).toMatchObject({ status: "APPROVED" });
  expect(meta.lists).toEqual([]);
});

test("a second channel's webhook stores news of the account, and the channel that has it reads again", async () => {
  const { tell, state, ring, meta, organizationId } = await synced(listed("order"));
  const credentials = { ...CREDENTIALS.whatsapp, phoneNumberId: "15550002222" };
  const body = { kind: "whatsapp", name: "Second", credentials };
  const second = (await admin("POST", `/organizations/${organizationId}/channels`, body)).body.channel.id as string;
  vi.advanceTimersByTime(5_000);
  await tell(STATUS, { event: "PAUSED" }, { to: second });
  expect(await state()).toMatchObject({ status: "PAUSED" });
  await tell("message_template_components_update", {}, { to: second });
  await ring(60_000);
  expect(meta.lists).toHaveLength(1);
});

test("the templates are read again each day, and nothing is written of what is the same", async () => {
  const { ring, meta, state } = await synced(listed("order"));
  meta.templates = [listed("order", { status: "DISABLED" })];
  expect(await ring(DAY)).toBe(true);
  expect(await state()).toMatchObject({ status: "DISABLED" });
  const rows = countRowsWritten();
  expect(await ring(DAY)).toBe(true);
  expect(meta.lists).toHaveLength(2);
  expect(await rows()).toBe(0);
});

test("a sync that Meta does not answer is tried again after an hour, and one that it refuses after a day", async () => {
  const { ring, meta } = await synced(listed("order"));
  meta.answer = () => new Response(null, { status: 500 });
  await ring(DAY);
  await ring(3_600_000);
  expect(meta.lists).toHaveLength(2);
  meta.answer = () => Response.json({ error: { code: 10, message: "No" } }, { status: 403 });
  await ring(3_600_000);
  expect(meta.lists).toHaveLength(3);
  await ring(3_600_000);
  expect(meta.lists).toHaveLength(3);
  meta.answer = null;
  await ring(DAY);
  expect(meta.lists).toHaveLength(4);
});

test("a channel whose account is taken away is not read again, and a channel without one stores no plan", async () => {
  const { ring, meta, channelId, object } = await synced(listed("order"));
  expect((await admin("PATCH", `/channels/${channelId}`, { settings: { wabaId: null } })).status).toBe(200);
  await ring(DAY);
  expect(meta.lists).toEqual([]);
  const rename = () => admin("PATCH", `/channels/${channelId}`, { settings: { perSecond: 10 } });
  const { alarms } = await objectWrites({ object }, rename);
  expect(alarms).toBe(0);
});
