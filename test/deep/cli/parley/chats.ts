import { expect, test } from "vitest";
import { createKey } from "../../../support/world/factories.ts";
import type { Place } from "./fixtures.ts";
import { newChat } from "./made.ts";

/** What else a client does with chats and messages. */
export function chatTests(placeOf: () => Place): void {
  test("choices, a link, a quote, a place and cards are sent, and shown on one line without what moves the cursor", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
    type Sent = { message: { id: string; interactive: object } };
    const choices = ["--choice", "a=Today", "--choice", "b=Tomorrow|after 9", "--footer", "Free", "--menu", "When"];
    const { message } = await place.json<Sent>(["send", chatId, "When?", ...choices], env);
    expect(message.interactive).toEqual({
      choices: [
        { type: "reply", id: "a", title: "Today" },
        { type: "reply", id: "b", title: "Tomorrow", description: "after 9" },
      ],
      footer: "Free",
      menuTitle: "When",
      rendering: "list",
    });
    const link = ["--link", "Open=https://shop.example/?a=b", "--reply-to", message.id];
    await place.json(["send", chatId, "Shipped", ...link], env);
    await place.json(["send", chatId, "Here", "--location=-33.86,151.2,Sydney, the harbor"], env);
    await place.json(["send", chatId, "Ask her", "--contact", "Ada\u202e=+49 30 1,0151"], env);
    await place.json(["send", chatId, "Where?", "--ask-location", "Send it"], env);
    const { stdout } = await place.run(["list", chatId], env);
    const lines = stdout.trimEnd().split("\n").slice(1).reverse();
    expect(lines.map((line) => line.replace(/^.*SENT +– +/, ""))).toEqual([
      "When? [Today] [Tomorrow]",
      `(reply to ${message.id}) Shipped [Open https://shop.example/?a=b]`,
      "Here (at -33.86, 151.2)",
      "Ask her (Ada·: +49 30 1, 0151)",
      "Where? [Send it]",
    ]);
    const wrong = await place.run(["send", chatId, "x", "--choice", "a=A", "--choice", "b=A"], env);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/--choice, .*\(1\.title\): must differ/)]);
    const far = await place.run(["send", chatId, "x", "--location", "91,0"], env);
    expect([far.code, far.stderr]).toEqual([1, expect.stringContaining("--location (latitude): must be at most 90")]);
  });

  test("a message gets a reaction that is taken back, messages are marked as read, and typing is shown", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
    const { message } = await place.json<{ message: { id: string } }>(["send", chatId, "Hello"], env);
    const reacted = await place.json(["react", chatId, message.id, "👍"], env);
    expect(reacted.message).toMatchObject({ reactions: [{ by: "organization", emoji: "👍" }] });
    const { stdout } = await place.run(["list", chatId], env);
    expect(stdout).toContain("Hello (👍 by you)");
    const removed = await place.json(["react", chatId, message.id, "--remove"], env);
    expect(removed.message).not.toHaveProperty("reactions");
    for (const words of [
      ["react", chatId, message.id],
      ["react", chatId, message.id, "👍", "--remove"],
    ]) {
      const wrong = await place.run(words, env);
      expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("Give an emoji, or --remove")]);
    }
    const none = await place.run(["react", chatId, message.id, "yes"], env);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("emoji: must be")]);
    for (const words of [
      ["read", chatId, message.id],
      ["typing", chatId],
    ]) {
      const done = await place.run(words, env);
      expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/^shown +(true|false)$/m)]);
    }
  });

  test("a channel gets a bot, and its chat is handed to people with last words, and back", async () => {
    const place = placeOf();
    const { channel, channelId, chatId, keyId } = await newChat(place);
    const permissions = ["chats:read", "chats:write", "messages:read", "messages:send", "notes:read", "notes:write"];
    const { secret } = await createKey(channel.organization, { permissions });
    const env = { PARLEY_API_KEY: secret };
    const setBot = (bot: string) => place.json(["channels", "change", channelId, "--bot", bot]);
    const bot = { keyId, handOverAfterSeconds: 120 };
    expect((await setBot(keyId)).channel).toMatchObject({ settings: { bot } });
    expect((await setBot(`${keyId}/30`)).channel).toMatchObject({
      settings: { bot: { ...bot, handOverAfterSeconds: 30 } },
    });
    for (const [wrong, reason] of [
      [`${keyId}/5`, "--bot (handOverAfterSeconds): must be"],
      [`${keyId}/x`, "--bot must be a whole number"],
      [`${keyId}/5/5`, "--bot must have the form key/seconds"],
    ]) {
      const { stderr } = await place.run(["channels", "change", channelId, "--bot", wrong ?? ""]);
      expect(stderr).toContain(reason);
    }
    const toBot = await place.json(["chats", "handover", chatId, "bot"], env);
    expect(toBot.chat).toMatchObject({ handler: "bot" });
    expect((await place.json(["chats", "list", "--handler", "bot"], env)).chats).toHaveLength(1);
    const words = ["--message", "One moment", "--note", "Wants a refund", "--assignee", "none"];
    const act = ["chats", "handover", chatId, "people", ...words, "--idempotency-key", "handover-1"];
    const { chat, message } = await place.json(act, env);
    expect(chat).toMatchObject({ handler: "people", assigneeId: null });
    expect(message).toMatchObject({ content: "One moment" });
    expect((await place.json(act, env)).message).toEqual(message);
    expect((await place.run(["notes", "list", chatId], env)).stdout).toContain("Wants a refund");
    expect((await place.json(["chats", "list", "--handler", "bot"], env)).chats).toEqual([]);
    const stats = await place.run(["stats", "history", channelId, "--by", "day", "--last", "2"]);
    expect(stats.stdout).toMatch(/ASKED *\n(?:.*\n)?.* 1 *\n/);
    expect(stats.stdout).not.toContain("BOT SILENT");
    const nobody = await place.run(["chats", "handover", chatId, "nobody"], env);
    expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining("to: must be")]);
    expect((await setBot("default")).channel).toMatchObject({ settings: {} });
    expect((await place.run(["chats", "handover", chatId, "bot"], env)).stderr).toContain("no_bot");
  });

  test("a chat that waits is listed, changed and marked as answered", async () => {
    const place = placeOf();
    const { chatId, env, organization } = await newChat(place);
    const due = new Date(Date.now() + 3_600_000).toISOString();
    const sent = await fetch(`${place.url()}/api/v1/chats/${chatId}/messages`, {
      method: "POST",
      headers: { Authorization: `Bearer ${env.PARLEY_API_KEY}` },
      body: JSON.stringify({ content: "Later", scheduledAt: due }),
    });
    expect(sent.status).toBe(201);
    // Reports the chat, so that the list has its scheduled message.
    const answered = await place.run(["chats", "answered", chatId], env);
    expect(answered.stdout).toMatch(/^unansweredSince +–$/m);
    expect((await place.run(["chats", "unanswered", chatId], env)).stderr).toContain("nothing_unanswered");
    const scheduled = await place.json(["chats", "list", "--scheduled"], env);
    expect(scheduled.chats).toMatchObject([{ id: chatId, nextScheduledAt: due }]);
    const unanswered = await place.run(["chats", "list", "--unanswered"], env);
    expect(unanswered.stderr).toContain("No chats.");
    const change = ["chats", "change", chatId, "--name", "Ada", "--metadata", "a=1", "--metadata", "b=2"];
    const { chat } = await place.json(change, env);
    expect(chat).toMatchObject({ contact: { name: "Ada" }, metadata: { a: "1", b: "2" } });
    const removal = await place.json(["chats", "change", chatId, "--remove-name", "--remove-metadata", "a"], env);
    expect(removal.chat).toMatchObject({ contact: { name: null }, metadata: { b: "2" } });
    const mark = ["chats", "change", chatId, "--person", "customer-7"];
    expect((await place.json(mark, env)).chat).toMatchObject({ contact: { name: null, personId: "customer-7" } });
    expect((await place.json(["chats", "list", "--person", "customer-7"], env)).chats).toHaveLength(1);
    const blank = await place.run(["chats", "change", chatId, "--person", " "], env);
    expect(blank.stderr).toContain("--person: must not be blank");
    const forgotten = (await place.json(["chats", "change", chatId, "--remove-person"], env)).chat;
    expect(forgotten).toMatchObject({ contact: { personId: null } });
    const { member } = await place.json<{ member: { id: string } }>([
      "members",
      "create",
      "--name",
      "Mia",
      "--organization",
      organization,
    ]);
    const give = ["chats", "change", chatId, "--assignee", member.id, "--if-assignee", "none"];
    expect((await place.json(give, env)).chat).toMatchObject({ assigneeId: member.id, metadata: { b: "2" } });
    expect((await place.run(give, env)).stderr).toContain("chat_reassigned");
    expect((await place.json(["chats", "list", "--assignee", member.id], env)).chats).toHaveLength(1);
    const until = "2099-01-31T09:00:00Z";
    const snooze = ["chats", "change", chatId, "--state", "snoozed", "--until"];
    expect((await place.run([...snooze, until], env)).stderr).toContain("--until: must be at most 366 days ahead");
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const snoozed = (await place.json([...snooze, soon], env)).chat;
    expect(snoozed).toMatchObject({ state: "snoozed", snoozedUntil: soon });
    expect((await place.json(["chats", "list", "--state", "snoozed"], env)).chats).toHaveLength(1);
    const inWords = (await place.json<{ chat: { snoozedUntil: string } }>([...snooze, "in 2 hours"], env)).chat;
    expect(Math.abs(Date.parse(inWords.snoozedUntil) - Date.now() - 7_200_000)).toBeLessThan(300_000);
    const noTime = await place.run([...snooze, "whenever"], env);
    expect([noTime.code, noTime.stderr]).toEqual([2, expect.stringContaining("--until is not a time: whenever")]);
    const wrong = await place.run(["chats", "change", chatId, "--state", "closed", "--if-seq", "999"], env);
    expect(wrong.stderr).toContain("chat_moved_on");
    expect((await place.run(["chats", "answered", chatId, "--if-seq", "999"], env)).stderr).toContain("chat_moved_on");
    const opened = await place.json(["chats", "change", chatId, "--state", "open"], env);
    expect(opened.chat).toMatchObject({ state: "open", snoozedUntil: null });
    expect((await place.run(["chats", "list"], env)).stdout).toMatch(new RegExp(`ASSIGNEE.*\\n.*${member.id}`));
    expect((await place.json(["chats", "list", "--assignee", "none"], env)).chats).toHaveLength(0);
    const free = await place.json(["chats", "change", chatId, "--assignee", "none"], env);
    expect(free.chat).toMatchObject({ assigneeId: null });
  });

  test("the chats whose contact opted out are listed", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
    const list = ["chats", "list", "--opted-out"];
    expect((await place.json(list, env)).chats).toEqual([]);
    await place.json(["chats", "change", chatId, "--marketing", "off"], env);
    // Reports the chat, so that the list knows what was said.
    await place.json(["chats", "answered", chatId], env);
    expect((await place.json(list, env)).chats).toMatchObject([{ id: chatId, marketing: { optedOut: true } }]);
    const search = await place.run([...list, "--search", "a"], env);
    expect([search.code, search.stderr]).toEqual([1, expect.stringContaining("can't be given with search")]);
  });

  test("a chat gets a label, is listed by it, and loses it", async () => {
    const place = placeOf();
    const { chatId, env, organization } = await newChat(place);
    const words = ["labels", "create", "--name", "Refund", "--organization", organization];
    const { label } = await place.json<{ label: { id: string } }>(words);
    const given = await place.json(["chats", "label", chatId, label.id], env);
    expect(given.chat).toMatchObject({ labels: [{ id: label.id, name: "Refund" }] });
    expect((await place.json(["chats", "list", "--label", label.id], env)).chats).toMatchObject([{ id: chatId }]);
    const taken = await place.json(["chats", "label", chatId, label.id, "--remove"], env);
    expect(taken.chat).toMatchObject({ labels: [] });
    expect((await place.json(["chats", "list", "--label", label.id], env)).chats).toEqual([]);
    expect((await place.run(["chats", "label", chatId, "rpl_g1"], env)).code).toBe(2);
  });

  test("a chat is searched, and exported line by line, from the start and from a cursor", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
    for (const text of ["one", "two", "three"]) await place.run(["send", chatId, text], env);
    const found = await place.run(["list", chatId, "--search", "TWO"], env);
    expect(found.stdout.trimEnd().split("\n").slice(1)).toEqual([expect.stringMatching(/^2 .* two$/)]);
    expect((await place.json(["list", chatId, "--search", "TWO"], env)).messages).toHaveLength(1);
    const audio = await place.run(["list", chatId, "--type", "AUDIO"], env);
    expect(audio.stderr).toContain("No messages.");
    const more = await place.run(["list", chatId, "--search", "o", "--limit", "1"], env);
    expect(more.code).toBe(1);
    const exported = await place.run(["export", chatId]);
    expect(exported.stderr).toBe("");
    const lines = exported.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ type }) => type)).toEqual(["chat", "message", "message", "message", "end"]);
    expect(lines.slice(1, 4).map(({ message }) => message.text)).toEqual(["one", "two", "three"]);
    const wrong = await place.run(["export", chatId, "--after", "nonsense"]);
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toMatch(/after: is not a cursor of this export/);
  });

  test("a note is added, listed and deleted", async () => {
    const place = placeOf();
    const { channel, chatId } = await newChat(place);
    const { secret } = await createKey(channel.organization, { permissions: ["notes:read", "notes:write"] });
    const env = { PARLEY_API_KEY: secret };
    const add = ["notes", "add", chatId, "Call back on Monday", "--idempotency-key", "monday"];
    const { note } = await place.json<{ note: { id: string } }>(add, env);
    expect(note).toMatchObject({ content: "Call back on Monday", mentions: [], afterSeq: 0 });
    expect(await place.json(add, env)).toEqual({ note });
    expect((await place.run(["notes", "list", chatId], env)).stdout).toContain("Call back on Monday");
    const unsure = await place.run(["notes", "delete", chatId, note.id], env);
    expect([unsure.code, unsure.stderr]).toEqual([2, expect.stringContaining("--yes")]);
    await place.json(["notes", "delete", chatId, note.id, "--yes"], env);
    expect(await place.json(["notes", "list", chatId], env)).toMatchObject({ notes: [] });
    const reader = await createKey(channel.organization, { permissions: ["chats:read", "notes:read"] });
    const mentioned = ["chats", "list", "--mentioned", "mbr_g000000000000000"];
    expect((await place.json(mentioned, { PARLEY_API_KEY: reader.secret })).chats).toEqual([]);
    expect((await place.run(mentioned, (await newChat(place)).env)).stderr).toContain("notes:read");
    const stranger = await place.run(["notes", "add", chatId, "Hi", "--mention", "mbr_1"], env);
    expect([stranger.code, stranger.stderr]).toEqual([1, expect.stringContaining("--mention")]);
  });

  test("a message is scheduled, moved, canceled, and its attempts are listed", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
    const sent = await place.json<{ message: { id: string } }>(
      ["send", chatId, "Later", "--at", "in 2 hours", "--until", "in 3 hours"],
      env,
    );
    const { id } = sent.message;
    expect(sent.message).toMatchObject({ status: "SCHEDULED", seq: null });
    const listed = await place.run(["scheduled", chatId], env);
    expect(listed.stdout).toMatch(new RegExp(`^${id} +in \\d hr\\. +in \\d hr\\. +Later$`, "m"));
    const moved = await place.json(["reschedule", chatId, id, "--at", "in 2 days", "--until", "never"], env);
    expect(moved.message).toMatchObject({ status: "SCHEDULED" });
    expect(moved.message).not.toHaveProperty("expiresAt");
    const attempts = await place.run(["attempts", chatId, id], env);
    expect(attempts.stderr).toContain("No attempts.");
    expect((await place.json(["cancel", chatId, id], env)).message).toMatchObject({ status: "CANCELED" });
    const late = await place.run(["reschedule", chatId, id, "--at", "now"], env);
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("not_scheduled")]);
    const again = await place.run(["resend", chatId, id, "--if-open", "--if-seq", "0"], env);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("not_failed")]);
    const wrong = await place.run(["resend", chatId, id, "--if-seq", "none"], env);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("--if-seq")]);
  });

  test("a chat is shown with its contact's marketing, which is changed, and a send can ask for an open window", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
    expect((await place.run(["chats", "show", chatId], env)).stdout).toMatch(/^marketing +–$/m);
    const change = (to: string) => ["chats", "change", chatId, "--marketing", to];
    expect((await place.json(change("off"), env)).chat).toMatchObject({ marketing: { optedOut: true, by: "key" } });
    expect((await place.json(change("on"), env)).chat).toMatchObject({ marketing: { optedOut: false } });
    const wrong = await place.run(change("maybe"), env);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("--marketing must be on or off")]);
    // A web chat has no window.
    const sent = await place.json(["send", chatId, "One", "--if-open"], env);
    expect(sent.message).toMatchObject({ seq: 1, status: "SENT" });
  });

  test("a send with --if-seq is refused if something came in between, and times that are none are a mistake", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
    await place.run(["send", chatId, "One"], env);
    const late = await place.run(["send", chatId, "Two", "--if-seq", "0"], env);
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("chat_moved_on")]);
    const wrong = await place.run(["send", chatId, "Three", "--at", "soonish"], env);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("--at is not a time")]);
    expect((await place.run(["reschedule", chatId, "msg_1"], env)).code).toBe(2);
  });
}
