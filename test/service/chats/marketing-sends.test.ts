import { expect, test } from "vitest";
import { created, expectError, newTemplate } from "../../support/harness.ts";
import { untilStatus } from "../../support/message-status.ts";
import { untilLength } from "../../support/until.ts";
import { taken, whatsappStatus } from "../inbound/webhook-calls.ts";
import { fromMeta, iso, place, seconds } from "./marketing-fixtures.ts";
import { pass, stopTheClock } from "./object/delivery/conversation.ts";
import { inFuture, MINUTE } from "./object/scheduled/fixtures.ts";

stopTheClock();

test("to one who opted out goes every template but marketing, and every other message", async () => {
  const { choose, post, template, organizationId } = await place();
  taken(await choose("stop"));
  expectError(await post(template("marketing")), 409, "opted_out");
  for (const name of ["utility", "authentication"]) {
    expect((await post(template(name))).status, name).toBe(201);
  }
  expect((await post({ content: "Hello" })).status).toBe(201);
  // Nothing is known of a template that was never synced.
  const own = await newTemplate(organizationId, "Buy now");
  expect((await post({ content: "-", templateId: own })).status).toBe(201);
});

test.each(["telegram", "web"] as const)("a marketing template is judged in a %s chat too", async (kind) => {
  const { change, post, template } = await place(kind);
  expect((await post(template("marketing"))).status).toBe(201);
  expect((await change({ marketing: { optedOut: true } })).status).toBe(200);
  expectError(await post(template("marketing")), 409, "opted_out");
});

test.each(["telegram", "web"] as const)(
  "a scheduled one is judged again in a %s chat, and so is its resend",
  async (kind) => {
    const { change, schedule, template, message, ringIn, api, chatId } = await place(kind);
    const [late, early] = [
      await schedule(2 * MINUTE, template("marketing")),
      await schedule(MINUTE, template("marketing")),
    ];
    await ringIn(MINUTE);
    await change({ marketing: { optedOut: true } });
    await ringIn(MINUTE);
    expect(await message(early.id)).toMatchObject({ seq: 1, status: "SENT", text: "About marketing" });
    expect(await message(late.id)).toMatchObject({ seq: null, status: "FAILED", error: { code: "opted_out" } });
    const resend = () => api("POST", `/chats/${chatId}/messages/${late.id}/resend`);
    expectError(await resend(), 409, "opted_out");
    await change({ marketing: { optedOut: false } });
    expect((await resend()).body.message).toMatchObject({ seq: 2, text: "About marketing" });
  },
);

test("the refusals of a send have their order, and a repeated request gets its message before all of them", async () => {
  const { choose, post, template } = await place();
  const headers = { "Idempotency-Key": "one" };
  const first = created(await post(template("marketing"), headers)).message;
  taken(await choose("stop"));
  expectError(await post(template("marketing", { ifSeq: 7, ifOpen: true })), 409, "chat_moved_on");
  expectError(await post(template("marketing", { ifOpen: true })), 409, "window_closed");
  expectError(await post(template("marketing")), 409, "opted_out");
  const again = await post(template("marketing"), headers);
  expect([again.status, again.body.message.id]).toEqual([201, first.id]);
});

test("a scheduled marketing template fails if the contact opts out before its time, and others go", async () => {
  const { choose, schedule, template, message, ringIn, events, evict } = await place();
  const late = await schedule(MINUTE, template("marketing"));
  const other = await schedule(MINUTE, template("utility"));
  taken(await choose("stop"));
  await evict();
  await ringIn(MINUTE);
  const failed = { seq: null, status: "FAILED", error: { code: "opted_out" } };
  expect(await message(late.id)).toMatchObject(failed);
  expect(await message(other.id)).toMatchObject({ seq: 1, status: "SENT" });
  const data = expect.objectContaining({ messageId: late.id, status: "FAILED" });
  expect(await events()).toContainEqual(expect.objectContaining({ type: "message.status", data }));
});

test("a scheduled marketing template goes if the contact resumes before its time, and is refused while it is out", async () => {
  const { choose, schedule, post, template, message, ringIn } = await place();
  const { id } = await schedule(2 * MINUTE, template("marketing"));
  taken(await choose("stop"));
  expectError(await post(template("marketing", { scheduledAt: inFuture(MINUTE) })), 409, "opted_out");
  pass(MINUTE);
  taken(await choose("resume"));
  await ringIn(MINUTE);
  expect(await message(id)).toMatchObject({ seq: 1, status: "SENT" });
});

test("a scheduled marketing template is not sent now to one who opted out, and stays scheduled", async () => {
  const { choose, schedule, patch, template, message } = await place();
  const { id } = await schedule(MINUTE, template("marketing"));
  taken(await choose("stop"));
  expectError(await patch(id, { scheduledAt: null }), 409, "opted_out");
  expect((await message(id)).status).toBe("SCHEDULED");
});

test("a queued marketing template goes, though the contact opts out meanwhile", async () => {
  const { choose, post, template, message, meta, ringIn } = await place();
  meta.refusal = () => new Response("Down", { status: 503 });
  const { id } = created(await post(template("marketing"))).message;
  await untilLength(meta.messages, 1);
  taken(await choose("stop"));
  meta.refusal = null;
  await ringIn(10 * MINUTE);
  expect(await message(id)).toMatchObject({ status: "SENT" });
});

test("a message that fails because the contact opted out says so of the contact, once", async () => {
  const { post, template, meta, marketing, consents, api, chatId } = await place();
  const refusal = { error: { code: 131050, message: "User has stopped marketing", type: "OAuthException" } };
  meta.refusal = () => Response.json(refusal, { status: 400 });
  const { id } = created(await post(template("marketing"))).message;
  await untilStatus(chatId, id, "FAILED");
  const out = { optedOut: true, at: new Date().toISOString(), by: "network" };
  expect(await marketing()).toEqual(out);
  expect((await consents()).map(({ data }) => data.marketing)).toEqual([out]);
  expectError(await api("POST", `/chats/${chatId}/messages/${id}/resend`), 409, "opted_out");
});

test("a status with 131050 opts out at the network's time, and only the first time", async () => {
  const { post, template, message, says, channelId, contact, chatId, marketing, choose, consents, change } =
    await place();
  const { id } = created(await post(template("marketing"))).message;
  await untilStatus(chatId, id, "SENT");
  const at = seconds() - 5;
  const fields = { recipient_id: contact, biz_opaque_callback_data: `${chatId}.${id}`, timestamp: String(at) };
  const failed = () => {
    const status = whatsappStatus("failed", {
      id: "wamid.x",
      ...fields,
      errors: [{ code: 131050, title: "Opted out" }],
    });
    return fromMeta(channelId, "messages", status);
  };
  taken(await failed());
  expect(await message(id)).toMatchObject({ status: "FAILED", error: { code: "network_131050" } });
  expect(await marketing()).toEqual({ optedOut: true, at: iso(at), by: "network" });
  taken(await choose("resume", at + 1));
  // The same status again, and an ordinary message, say nothing.
  taken(await failed());
  taken(await says("Hi"));
  expect(await marketing()).toEqual({ optedOut: false, at: iso(at + 1), by: "contact" });
  expect(await consents()).toHaveLength(2);
  expect((await change({ marketing: { optedOut: true } })).body.chat.marketing).toMatchObject({ by: "key" });
});

test("a failure from before the contact resumed opts nobody out", async () => {
  const { post, template, message, channelId, contact, chatId, marketing, choose } = await place();
  const { id } = created(await post(template("marketing"))).message;
  await untilStatus(chatId, id, "SENT");
  const at = seconds();
  taken(await choose("resume", at));
  const errors = [{ code: 131050, title: "Opted out" }];
  const fields = {
    recipient_id: contact,
    biz_opaque_callback_data: `${chatId}.${id}`,
    timestamp: String(at - 1),
    errors,
  };
  taken(await fromMeta(channelId, "messages", whatsappStatus("failed", { id: "wamid.x", ...fields })));
  expect((await message(id)).status).toBe("FAILED");
  expect(await marketing()).toEqual({ optedOut: false, at: iso(at), by: "contact" });
});

test("any other failure opts nobody out", async () => {
  const { post, template, chatId, meta, marketing } = await place();
  meta.refusal = () => Response.json({ error: { code: 131049, message: "No" } }, { status: 400 });
  const { id } = created(await post(template("marketing"))).message;
  await untilStatus(chatId, id, "FAILED");
  expect(await marketing()).toBeNull();
});
