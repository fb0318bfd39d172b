import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { runAlarm } from "../../../support/alarms.ts";
import { countCalls, countHops } from "../../../support/faults.ts";
import { admin, client, newKey, send } from "../../../support/harness.ts";
import { accept, fakeNetworks } from "../../../support/networks.ts";
import { until } from "../../../support/until.ts";
import {
  type Conversation,
  conversation,
  healthOf,
  newNetworkChannel,
  PHONE_ID,
  pass,
  stopTheClock,
} from "../../chats/object/delivery/conversation.ts";
import { fromMeta, fromTelegram, signed, taken, whatsappText } from "../../inbound/webhook-calls.ts";

stopTheClock();

const WABA = "102290129340398";
const MINUTE = 60_000;
const DAY = 86_400_000;

/** Meta reports about the account. */
async function report({ channelId }: Conversation, field: string, value: object, id = WABA): Promise<void> {
  const entry = [{ id, time: Math.floor(Date.now() / 1_000), changes: [{ field, value }] }];
  taken(await signed({ id: channelId }, JSON.stringify({ object: "whatsapp_business_account", entry })));
}

const update = (chat: Conversation, value: object) => report(chat, "account_update", value);
const codesOf = async ({ channelId }: Conversation) =>
  ((await healthOf(channelId)).warnings as { code: string }[]).map(({ code }) => code);
const ring = ({ channelId }: Conversation) => runAlarm(env.CHANNELS.getByName(channelId));

/** The events of the channel's health. */
async function events({ organizationId }: Conversation) {
  const { secret } = await newKey(organizationId, { permissions: ["events:read"] });
  const { body } = await client(secret)("GET", "/events?types=channel.health&limit=100");
  return (body.events as { data: { state: string; warnings: { code: string }[] } }[]).map(({ data }) => [
    data.state,
    ...data.warnings.map(({ code }) => code),
  ]);
}

function isLike(value: unknown, wanted: object): boolean {
  try {
    expect(value).toMatchObject(wanted);
    return true;
  } catch {
    return false;
  }
}

/** Waits until the channel shows this: counts are reported after the response. */
const shows = (chat: Conversation, wanted: object) =>
  until(
    `the channel shows ${JSON.stringify(wanted)}`,
    () => healthOf(chat.channelId),
    (health) => isLike(health, wanted),
  );

test.each([
  [{ event: "ACCOUNT_DELETED" }, "ACCOUNT_DELETED"],
  [{ event: "DISABLED_UPDATE", ban_info: { waba_ban_state: "DISABLE" } }, "DISABLE"],
  [{ event: "ACCOUNT_OFFBOARDED", disconnection_info: { reason: "USER_LEFT" } }, "ACCOUNT_OFFBOARDED (USER_LEFT)"],
  [
    {
      event: "ACCOUNT_RESTRICTION",
      restriction_info: [{ restriction_type: "RESTRICTED_CUSTOMER_INITIATED_MESSAGING" }],
    },
    "RESTRICTED_CUSTOMER_INITIATED_MESSAGING",
  ],
])(
  "an account of which Meta reports %j breaks its channel, whose messages wait until it is mended",
  async (value, words) => {
    const calls = fakeNetworks();
    const chat = await conversation("whatsapp", { wabaId: WABA });
    await update(chat, value);
    expect(await healthOf(chat.channelId)).toMatchObject({ state: "broken", reason: `Meta reports ${words}` });
    const { id } = await send(chat.api, chat.chatId);
    await chat.run();
    expect([await chat.message(id), calls]).toMatchObject([{ status: "QUEUED" }, []]);
    await update(chat, { event: "ACCOUNT_RECONNECTED" });
    expect(await healthOf(chat.channelId)).toMatchObject({ state: "ok", reason: null });
    await ring(chat);
    await chat.run();
    expect(await chat.message(id)).toMatchObject({ status: "SENT" });
    expect(await events(chat)).toEqual([["broken"], ["ok"]]);
  },
);

test("a message that leaves mends a channel that a report broke", async () => {
  fakeNetworks();
  const chat = await conversation("whatsapp", { wabaId: WABA });
  await update(chat, { event: "PARTNER_REMOVED" });
  await send(chat.api, chat.chatId);
  await chat.run();
  pass(7 * MINUTE);
  await chat.run();
  await shows(chat, { state: "ok" });
});

test("what works still is a warning: an event comes with a code and when it goes, not with a count", async () => {
  fakeNetworks();
  const chat = await conversation("whatsapp", { wabaId: WABA });
  const at = new Date().toISOString();
  await update(chat, { event: "DISABLED_UPDATE", ban_info: { waba_ban_state: "SCHEDULE_FOR_DISABLE" } });
  await update(chat, { event: "ACCOUNT_VIOLATION", violation_info: { violation_type: "SPAM" } });
  pass(MINUTE);
  await ring(chat);
  const text = "The account violated a policy of Meta's (SPAM)";
  const { warnings } = await healthOf(chat.channelId);
  expect(warnings).toEqual([{ code: "account", since: at, count: 2, text }]);
  await update(chat, { event: "REINSTATE" });
  expect(await codesOf(chat)).toEqual([]);
  expect(await events(chat)).toEqual([["ok", "account"], ["ok"]]);
});

test("a lower limit, an alert, a flag and a rejected name are warnings", async () => {
  fakeNetworks();
  const chat = await conversation("whatsapp", { wabaId: WABA });
  const limit = (max: number | string) =>
    report(chat, "business_capability_update", { max_daily_conversations_per_business: max });
  await limit("TIER_10K");
  expect(await codesOf(chat)).toEqual([]);
  await limit(250);
  const alert_info = {
    alert_severity: "CRITICAL",
    alert_type: "OBA_DENIED",
    alert_description: "Your application was denied",
  };
  await report(chat, "account_alerts", { entity_type: "WABA", entity_id: WABA, alert_info });
  await report(chat, "phone_number_quality_update", { display_phone_number: "1", event: "FLAGGED" });
  await report(chat, "phone_number_name_update", { decision: "REJECTED", rejection_reason: "NAME_EMPLOYEE_ISSUE" });
  const { warnings } = await healthOf(chat.channelId);
  expect((warnings as { code: string; text: string }[]).map(({ code, text }) => [code, text])).toEqual([
    ["limit", "The number of contacts who can get a template in 24 hours fell to 250"],
    ["alert", "Your application was denied (OBA_DENIED)"],
    ["quality", "Meta flagged a number's quality"],
    ["name", "Meta rejected a number's name (NAME_EMPLOYEE_ISSUE)"],
  ]);
  await limit(-1);
  expect(await codesOf(chat)).toEqual(["alert", "quality", "name"]);
});

test("news of another account change nothing, and Meta is asked whether those of an unknown one are true", async () => {
  const { state, asked } = meta(fine);
  const known = await conversation("whatsapp", { wabaId: "7" });
  await update(known, { event: "ACCOUNT_DELETED" });
  expect(await healthOf(known.channelId)).toMatchObject({ state: "ok" });
  const unknown = await conversation("whatsapp");
  for (const [number, expected] of [
    [fine, "ok"],
    [{ health_status: blocked }, "broken"],
  ] as const) {
    state.number = number;
    const before = asked().length;
    await update(unknown, { event: "ACCOUNT_DELETED" });
    expect(await healthOf(unknown.channelId)).toMatchObject({ state: "ok" });
    pass(MINUTE);
    await ring(unknown);
    expect(asked()).toHaveLength(before + 1);
    expect(await healthOf(unknown.channelId)).toMatchObject({ state: expected });
  }
});

test("a group's messages, statuses and changes touch no chat, and are a warning", async () => {
  fakeNetworks();
  const chat = await conversation("whatsapp");
  const { contacts, messages } = whatsappText({ wa_id: "49151777" }, "To all");
  taken(
    await fromMeta(chat.channel, [
      { contacts, messages: messages.map((message) => ({ ...message, group_id: "G1" })) },
      { statuses: [{ id: "wamid.9", status: "read", recipient_id: "G1", recipient_type: "group" }] },
    ]),
  );
  await shows(chat, { state: "ok", warnings: [{ code: "groups_not_supported", count: 2 }] });
  expect((await chat.api("GET", "/chats?contact=49151777")).body.chats).toEqual([]);
  expect((await chat.api("GET", "/chats?contact=G1")).body.chats).toEqual([]);
});

test("what another number of the app can't store is counted by its own channel, or nowhere", async () => {
  fakeNetworks();
  const chat = await conversation("whatsapp");
  const number = "15559990011";
  const sibling = await newNetworkChannel(chat.organizationId, "whatsapp", { credentials: { phoneNumberId: number } });
  const { contacts, messages } = whatsappText({ wa_id: "49151778" }, "To all");
  for (const id of [number, "15559990012"]) {
    const inGroup = messages.map((message) => ({ ...message, group_id: "G1", mood: "fine" }));
    taken(await fromMeta(chat.channel, [{ metadata: { phone_number_id: id }, contacts, messages: inGroup }]));
  }
  await until(
    "the number's channel shows both",
    () => healthOf(sibling.id),
    (health) =>
      isLike(health, {
        unknown: { "message.mood": 1 },
        warnings: expect.arrayContaining([expect.objectContaining({ code: "groups_not_supported", count: 1 })]),
      }),
  );
  await report(chat, "brand_new_update", {});
  await shows(chat, { warnings: [{ code: "unknown_fields" }] });
  expect((await healthOf(chat.channelId)).unknown).toEqual({ "field.brand_new_update": 1 });
});

test("what is not known is counted by name, and told to the organization once a minute", async () => {
  fakeNetworks();
  const chat = await conversation("whatsapp");
  const reports = countCalls("ORGANIZATIONS", "reportHealth");
  const call = () => report(chat, "brand_new_update", {});
  await call();
  await shows(chat, { unknown: { "field.brand_new_update": 1 }, warnings: [{ code: "unknown_fields" }] });
  const hops = countHops();
  for (let n = 0; n < 3; n++) await call();
  expect(hops().CHANNELS).toBe(undefined);
  pass(MINUTE);
  await call();
  await until(
    "the channel has counted all",
    async () => {
      pass(MINUTE);
      await ring(chat);
      return healthOf(chat.channelId);
    },
    ({ unknown }) => unknown["field.brand_new_update"] === 5,
  );
  expect(reports()).toBeLessThanOrEqual(4);
  expect(await events(chat)).toEqual([["ok", "unknown_fields"]]);
});

test("an update of Telegram that the service does not know is counted, and one that it only notes is not", async () => {
  fakeNetworks();
  const chat = await conversation("telegram");
  taken(await fromTelegram(chat.channel, { update_id: 1, my_chat_member: {} }));
  taken(await fromTelegram(chat.channel, { update_id: 2, brand_new: {} }));
  await shows(chat, { unknown: { "update.brand_new": 1 } });
});

test("a warning that nobody reports again ends after a week", async () => {
  fakeNetworks();
  const chat = await conversation("whatsapp", { wabaId: WABA });
  await report(chat, "account_alerts", { alert_info: { alert_severity: "WARNING", alert_description: "Look" } });
  expect(await codesOf(chat)).toEqual(["alert"]);
  pass(7 * DAY);
  await ring(chat);
  expect(await codesOf(chat)).toEqual([]);
  expect(await events(chat)).toEqual([["ok", "alert"], ["ok"]]);
});

/** Meta, which says how the number is, and accepts messages. */
function meta(number: object) {
  const state = { number };
  const calls = fakeNetworks((call) =>
    call.method.startsWith(PHONE_ID) ? Response.json({ id: PHONE_ID, ...state.number }) : accept(call),
  );
  return { state, asked: () => calls.filter(({ method }) => method.startsWith(PHONE_ID)) };
}

const blocked = {
  can_send_message: "BLOCKED",
  entities: [
    { entity_type: "PHONE_NUMBER", id: PHONE_ID, can_send_message: "AVAILABLE" },
    {
      entity_type: "WABA",
      id: WABA,
      can_send_message: "BLOCKED",
      errors: [{ error_code: 141006, error_description: "There is an error with the payment method." }],
    },
  ],
};
const fine = { health_status: { can_send_message: "AVAILABLE" }, quality_rating: "GREEN", name_status: "APPROVED" };

test("each day Meta is asked how the number is, and what it says changes the health", async () => {
  const { state, asked } = meta({ health_status: blocked, quality_rating: "RED", name_status: "DECLINED" });
  const chat = await conversation("whatsapp");
  pass(DAY);
  await ring(chat);
  const reason = "Meta blocks the number: WABA: There is an error with the payment method.";
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "broken", reason });
  expect(await codesOf(chat)).toEqual(["quality", "name"]);
  expect(asked()).toHaveLength(1);
  expect(asked()[0]?.method).toContain("health_status%2Cquality_rating%2Cname_status");
  state.number = fine;
  pass(DAY);
  await ring(chat);
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "ok", warnings: [] });
  expect(asked()).toHaveLength(2);
});

test("a number that Meta calls available stays broken if it refuses its messages", async () => {
  meta(fine);
  const chat = await conversation("whatsapp");
  const check = () => admin("POST", `/channels/${chat.channelId}/check`);
  await check();
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "ok" });
  fakeNetworks((call) =>
    call.method.startsWith(PHONE_ID)
      ? Response.json({ id: PHONE_ID, ...fine })
      : Response.json({ error: { code: 131042, message: "No payment" } }, { status: 400 }),
  );
  await send(chat.api, chat.chatId);
  await chat.run();
  await check();
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "broken", reason: "131042: No payment" });
});

test("a check shows what Meta says of the number, and stores it", async () => {
  const limited = {
    can_send_message: "LIMITED",
    entities: [{ entity_type: "BUSINESS", can_send_message: "LIMITED", additional_info: ["Not verified yet."] }],
  };
  const { state } = meta({ ...fine, health_status: limited, quality_rating: "YELLOW" });
  const chat = await conversation("whatsapp");
  const network = async () => (await admin("POST", `/channels/${chat.channelId}/check`)).body.checks[2];
  const found =
    "Meta limits what the number can send: BUSINESS: Not verified yet.. Meta rates the number's quality as YELLOW";
  expect(await network()).toMatchObject({ name: "network", state: "warns", found });
  expect(await codesOf(chat)).toEqual(["limited", "quality"]);
  state.number = { health_status: blocked };
  expect(await network()).toMatchObject({ state: "fails" });
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "broken" });
  state.number = fine;
  expect(await network()).toMatchObject({ state: "ok" });
  expect(await healthOf(chat.channelId)).toMatchObject({ state: "ok", warnings: [] });
});

test("after news of a number, Meta is asked within a minute, once for much news", async () => {
  const { asked } = meta(fine);
  const chat = await conversation("whatsapp", { wabaId: WABA });
  for (let n = 0; n < 3; n++) await report(chat, "phone_number_quality_update", { event: "FLAGGED" });
  expect(await codesOf(chat)).toEqual(["quality"]);
  pass(MINUTE);
  await ring(chat);
  expect(asked()).toHaveLength(1);
  expect(await codesOf(chat)).toEqual([]);
});
