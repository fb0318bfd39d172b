import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { Follower } from "../../../../src/cli/parley/follow.ts";
import { Service } from "../../../../src/cli/parley/service.ts";
import type { Place } from "./fixtures.ts";
import { newChat } from "./made.ts";
import { Wire } from "./wire.ts";

/** The commands that most clients use: a text is sent, listed and followed. */
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

  test("the same idempotency key sends once", async () => {
    const place = placeOf();
    const { chatId, env } = await newChat(place);
    const words = ["send", chatId, "Once", "--idempotency-key", "k1"];
    const first = await place.json(words, env);
    expect(await place.json(words, env)).toEqual(first);
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
