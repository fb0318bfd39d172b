import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { Follower } from "../../../src/cli/parley/follow.ts";
import { Service } from "../../../src/cli/parley/service.ts";
import type { Place } from "./fixtures.ts";
import { newChat } from "./made.ts";
import { Wire } from "./wire.ts";

/** The commands of a client: what is sent, listed and followed in a chat. */
export function messageTests(placeOf: () => Place): void {
  test("a message is sent, also from standard input, and each is listed on one line", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
    const sent = await place.run(["send", chatId, "Hello", "--metadata", "order=7"], env);
    expect(sent.stdout).toMatch(/^seq +1$/m);
    expect(sent.stdout).toMatch(/^metadata\.order +7$/m);
    const piped = await place.run(["send", chatId, "-"], env, "two\nlines \u001b[31mred\u202e\n");
    expect(piped.code).toBe(0);
    const { stdout } = await place.run(["list", chatId], env);
    const [, newest = "", oldest = ""] = stdout.split("\n");
    expect(newest).toMatch(/^2 +msg_\w+ .*OUTBOUND +SENT +– +two⏎lines ·\[31mred·$/);
    expect(oldest).toMatch(/^1 +msg_\w+ .* Hello$/);
  });

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

  test("a chat that waits is listed, changed and marked as answered", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
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
    const scheduled = await place.json(["chats", "list", "--scheduled"], env);
    expect(scheduled.chats).toMatchObject([{ id: chatId, nextScheduledAt: due }]);
    const unanswered = await place.run(["chats", "list", "--unanswered"], env);
    expect(unanswered.stderr).toContain("No chats.");
    const change = ["chats", "change", chatId, "--name", "Ada", "--metadata", "a=1", "--metadata", "b=2"];
    const { chat } = await place.json(change, env);
    expect(chat).toMatchObject({ contact: { name: "Ada" }, metadata: { a: "1", b: "2" } });
    const removal = await place.json(["chats", "change", chatId, "--remove-name", "--remove-metadata", "a"], env);
    expect(removal.chat).toMatchObject({ contact: { name: null }, metadata: { b: "2" } });
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

  test("the same idempotency key sends once", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
    const words = ["send", chatId, "Once", "--idempotency-key", "k1"];
    const first = await place.json(words, env);
    expect(await place.json(words, env)).toEqual(first);
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
    const again = await place.run(["resend", chatId, id], env);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("not_failed")]);
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

  test("tail prints existing messages, then each new one once despite a lost connection, and exits with 0", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
    const send = (content: string) => post(place, chatId, env.PARLEY_API_KEY, content);
    for (const content of ["one", "two"]) await send(content);
    const wire = new Wire(place.url());
    await wire.mend();
    onTestFinished(() => wire.cut());
    const words = ["tail", chatId, "--lines", "1", "--interval", "0.1", "--json"];
    const tail = place.begin(words, { ...env, PARLEY_URL: wire.url });
    onTestFinished(() => void tail.kill("SIGKILL"));
    const lines = linesOf(tail.stdout);
    const notes = linesOf(tail.stderr);

    expect(JSON.parse(await lines())).toMatchObject({ content: "two" });
    await send("three");
    expect(JSON.parse(await lines())).toMatchObject({ content: "three" });
    await wire.cut();
    expect(await notes()).toMatch(/does not answer .*Trying again/);
    await send("four");
    await send("five");
    await wire.mend();
    expect(await notes()).toBe("The service answers again.");
    expect(JSON.parse(await lines())).toMatchObject({ content: "four" });
    expect(JSON.parse(await lines())).toMatchObject({ content: "five" });
    tail.kill("SIGTERM");
    expect(await once(tail, "exit")).toEqual([0, null]);
  });

  test("tail exits with 1 if a retry can't help", async () => {
    const place = placeOf();
    const { chatId, env, keyId } = await newChat(place);
    const tail = place.begin(["tail", chatId, "--interval", "0.1"], env);
    onTestFinished(() => void tail.kill("SIGKILL"));
    await post(place, chatId, env.PARLEY_API_KEY, "last");
    const lines = linesOf(tail.stdout);
    expect(await lines()).toMatch(/^\d\d:\d\d:\d\d {2}msg_\w+ {2}> SENT {7}last$/);
    const notes = linesOf(tail.stderr);
    const exited = once(tail, "exit");
    await place.run(["keys", "revoke", keyId, "--yes"]);
    expect(await notes()).toContain("invalid_api_key");
    expect(await exited).toEqual([1, null]);
  });

  test("tail prints many messages of an empty chat completely and in order", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
    const apiKey = { value: env.PARLEY_API_KEY, from: "test" };
    const service = new Service({
      root: place.folder,
      url: place.url(),
      urlFrom: "test",
      isHere: true,
      adminToken: null,
      apiKey,
    });
    const follower = new Follower(service, chatId);
    expect(await follower.begin(10)).toEqual([]);
    expect(await follower.next()).toEqual({ messages: [], hasMore: false });
    const send = (n: number) => post(place, chatId, env.PARLEY_API_KEY, String(n));
    const all = (count: number) => Promise.all(Array.from({ length: count }, (_, n) => send(n)));
    await all(101);
    const { messages } = await follower.next();
    expect(messages.map(({ seq }) => seq)).toEqual(Array.from({ length: 101 }, (_, n) => n + 1));
    await all(101);
    const further = await follower.next();
    expect(further.hasMore).toBe(true);
    const seqs = [...further.messages, ...(await follower.next()).messages].map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from({ length: 101 }, (_, n) => n + 102));
    expect(await follower.next()).toEqual({ messages: [], hasMore: false });
  });

  test("without a key, the error says where to set one, and no request is sent", async () => {
    const env = { PARLEY_URL: "https://parley.example" };
    const { code, stderr } = await placeOf().run(["list", "cht_g1"], env);
    expect(code).toBe(2);
    expect(stderr).toBe(
      "✗ This command needs an API key for https://parley.example. Set PARLEY_API_KEY, or run parley login.\n",
    );
  });
}

async function post(place: Place, chatId: string, key: string, content: string): Promise<void> {
  const response = await fetch(`${place.url()}/api/v1/chats/${chatId}/messages`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}` },
    body: JSON.stringify({ content }),
  });
  expect(response.status, await response.text()).toBe(201);
}

/** Gives the lines of a stream, one a call. */
function linesOf(stream: NodeJS.ReadableStream | null): () => Promise<string> {
  const lines = createInterface({ input: stream as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  return async () => String((await lines.next()).value);
}
