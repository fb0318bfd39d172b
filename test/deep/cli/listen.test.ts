import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { verifyWebhook } from "../../../src/client/verify-webhook.ts";
import { serve } from "../../cli/fake-service.ts";
import { close, listen } from "../../support/fake-server.ts";
import { lastingPort } from "../../support/world/lasting-port.ts";
import { API_KEY, begin, newHome, run } from "./command.ts";

type Child = ReturnType<typeof begin>;

/** The events of an organization. The cursor after an event is its number. */
class FakeFeed {
  readonly asked: string[] = [];
  url = "";
  #count = 0;
  readonly #streams = new Set<ServerResponse>();

  static async begin(): Promise<FakeFeed> {
    const feed = new FakeFeed();
    feed.url = (await serve((request, response) => feed.#answer(request, response))).url;
    return feed;
  }

  /** Adds events, also to the open streams. */
  add(count: number): void {
    const before = this.#count;
    this.#count += count;
    for (const stream of this.#streams) stream.write(this.#frames(before));
  }

  cut(): void {
    for (const stream of this.#streams) stream.destroy();
    this.#streams.clear();
  }

  #answer({ url = "" }: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(url, "http://localhost");
    this.asked.push(url.replace("/api/v1", ""));
    if (pathname === "/api/v1/events") {
      const isNow = searchParams.get("from") === "now";
      const events = isNow
        ? []
        : Array.from({ length: this.#count }, (_, at) => ({ ...eventOf(at + 1), cursor: `${at + 1}` }));
      const body = { events, cursor: `${this.#count}`, hasMore: false };
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
      return;
    }
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(`: open\n\n${this.#frames(Number(searchParams.get("after")))}`);
    this.#streams.add(response);
    response.on("close", () => this.#streams.delete(response));
  }

  #frames(after: number): string {
    const numbers = Array.from({ length: this.#count - after }, (_, at) => after + at + 1);
    return numbers.map((number) => `id: ${number}\ndata: ${JSON.stringify(eventOf(number))}\n\n`).join("");
  }
}

function eventOf(number: number) {
  const data = { messageId: "msg_g1", seq: number, message: { text: "Hello ✓" } };
  return {
    id: `evt_g${number}`,
    type: "message.received",
    timestamp: "2026-11-20T10:00:17.062Z",
    chatId: "cht_g1",
    number,
    data,
  };
}

/** A developer's server. It answers with the given statuses, the last one forever. */
async function newReceiver(statuses: number[] = [204], onPort = 0) {
  const calls: { headers: IncomingMessage["headers"]; body: string }[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
    calls.push({ headers: request.headers, body });
    response.writeHead(statuses[Math.min(calls.length, statuses.length) - 1] ?? 204).end();
  };
  const { url, server } = await serve(answer, onPort);
  return { url: `${url}/hook`, server, calls, answer };
}

/** Runs `parley listen`. `line` and `note` read the next line of stdout and stderr. */
function listening(feed: FakeFeed, target: string, home: string, more: string[] = []) {
  const child = begin(["listen", "--forward-to", target, ...more], { PARLEY_URL: feed.url, XDG_CONFIG_HOME: home });
  return { child, line: linesOf(child.stdout), note: linesOf(child.stderr) };
}

function linesOf(stream: Child["stdout"]): () => Promise<string> {
  const lines = createInterface({ input: stream as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  return async () => String((await lines.next()).value);
}

async function stop(child: Child): Promise<void> {
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
}

test("each event is forwarded, signed with the secret that is printed, and shown with the answer", async () => {
  const feed = await FakeFeed.begin();
  const receiver = await newReceiver([200, 500, 204]);
  const home = await newHome();
  feed.add(2);
  const { child, line, note } = listening(feed, receiver.url, home);
  expect(await note()).toBe(`Forwarding the events of ${feed.url} to ${receiver.url}`);
  const secret = (await note()).replace("The signing secret is ", "");
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  feed.add(3);
  expect(await line()).toMatch(/^\d\d:\d\d:\d\d {2}evt_g3 {2}message\.received {2}200 {2}\d+ ms$/);
  expect(await line()).toMatch(/evt_g4 .* 500 /);
  expect(await line()).toMatch(/evt_g5 .* 204 /);
  for (const [at, { headers, body }] of receiver.calls.entries()) {
    const event = await verifyWebhook(headers, body, secret);
    expect(event).toEqual({ ...eventOf(at + 3), previous: at === 0 ? null : at + 2 });
    expect(headers).toMatchObject({
      "webhook-id": event.id,
      "content-type": "application/json",
      "parley-attempt": "1",
    });
  }
  await stop(child);
});

test("a stopped listen continues after the last event, with the same secret", async () => {
  const feed = await FakeFeed.begin();
  const receiver = await newReceiver();
  const home = await newHome();
  const first = listening(feed, receiver.url, home);
  await first.note();
  const secret = await first.note();
  feed.add(1);
  await first.line();
  await stop(first.child);
  feed.add(2);
  const second = listening(feed, receiver.url, home);
  await second.note();
  expect(await second.note()).toBe(secret);
  expect([await second.line(), await second.line()].map((line) => line.split("  ")[1])).toEqual(["evt_g2", "evt_g3"]);
  await stop(second.child);
  const path = `${home}/parley/listen.json`;
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(path, "utf8")).not.toContain(API_KEY);
});

test("a listen that is stopped before its first event misses none after its start", async () => {
  const feed = await FakeFeed.begin();
  const receiver = await newReceiver();
  const home = await newHome();
  feed.add(1);
  const first = listening(feed, receiver.url, home);
  await first.note();
  await first.note();
  await stop(first.child);
  feed.add(1);
  const { child, line } = listening(feed, receiver.url, home);
  expect(await line()).toContain("evt_g2");
  await stop(child);
});

test("--from oldest begins again, and --json prints a line of JSON for each call", async () => {
  const feed = await FakeFeed.begin();
  const receiver = await newReceiver();
  feed.add(2);
  const more = ["--from", "oldest", "--json", "--types", "message.*, chat.created"];
  const { child, line } = listening(feed, receiver.url, await newHome(), more);
  const expected = (eventId: string) => ({
    eventId,
    type: "message.received",
    status: 204,
    durationMs: expect.any(Number),
  });
  expect(JSON.parse(await line())).toEqual(expected("evt_g1"));
  expect(JSON.parse(await line())).toEqual(expected("evt_g2"));
  expect(feed.asked[0]).toBe("/events?types=message.*%2Cchat.created&from=oldest&limit=100");
  await stop(child);
});

test("a lost connection is reported, and no event is missed or repeated", async () => {
  const feed = await FakeFeed.begin();
  const receiver = await newReceiver();
  const { child, line, note } = listening(feed, receiver.url, await newHome());
  await note();
  await note();
  feed.add(2);
  await line();
  await line();
  feed.cut();
  expect(await note()).toBe("The event stream was cut. Trying again.");
  feed.add(2);
  expect(await note()).toBe("The service answers again.");
  await line();
  await line();
  expect(receiver.calls.map(({ headers }) => headers["webhook-id"])).toEqual(["evt_g1", "evt_g2", "evt_g3", "evt_g4"]);
  await stop(child);
});

test("events wait while the developer's server is not running", async () => {
  const feed = await FakeFeed.begin();
  const receiver = await newReceiver([204], await lastingPort());
  await close(receiver.server);
  const { child, line, note } = listening(feed, receiver.url, await newHome());
  await note();
  await note();
  feed.add(2);
  const { origin, port } = new URL(receiver.url);
  expect(await note()).toBe(`${origin} does not answer (ECONNREFUSED). Events wait until it does.`);
  const again = createServer((request, response) => void receiver.answer(request, response));
  await listen(again, Number(port));
  expect(await note()).toBe(`${origin} answers again.`);
  expect([await line(), await line()].map((each) => each.split("  ")[1])).toEqual(["evt_g1", "evt_g2"]);
  expect(Number(receiver.calls[0]?.headers["parley-attempt"])).toBeGreaterThan(1);
  await stop(child);
  await close(again);
});

test.for(["localhost:3000", "http://example.com/hook", "https://ann:hunter2@example.com", "ftp://localhost"])(
  "%s is refused as an address to forward to",
  async (target) => {
    const env = { PARLEY_URL: "http://127.0.0.1:9", XDG_CONFIG_HOME: await newHome() };
    const { code, stderr } = await run(["listen", "--forward-to", target], env);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^✗ --forward-to must /);
    expect(stderr).not.toContain("hunter2");
  },
);

test("events lists a page with its cursor, and --follow shows each new event", async () => {
  const feed = await FakeFeed.begin();
  feed.add(2);
  const env = { PARLEY_URL: feed.url, XDG_CONFIG_HOME: await newHome() };
  const { stdout, stderr } = await run(["events", "--types", "message.*"], env);
  expect(feed.asked).toEqual(["/events?types=message.*"]);
  expect(stdout).toMatch(
    /^TIME +ID +TYPE +CHAT +NUMBER +TEXT\n2026-11-20T10:00:17\.062Z +evt_g1 +message\.received +cht_g1 +1 +Hello ✓\n/,
  );
  expect(stderr).toBe("To continue later, add --after 2\n");
  const child = begin(["events", "--follow", "--after", "1"], env);
  const line = linesOf(child.stdout);
  expect(await line()).toMatch(/^\d\d:\d\d:\d\d {2}evt_g2 {2}message\.received {2}cht_g1 {2}Hello ✓$/);
  feed.add(1);
  expect(await line()).toContain("evt_g3");
  await stop(child);
});

test("a cursor that is too old is explained", async () => {
  const body = JSON.stringify({ error: "The cursor is too old", code: "cursor_expired" });
  const { url } = await serve(
    (_, response) => void response.writeHead(410, { "Content-Type": "application/json" }).end(body),
  );
  const env = { PARLEY_URL: url, XDG_CONFIG_HOME: await newHome() };
  const { code, stderr } = await run(["events", "--follow", "--after", "1"], env);
  expect(code).toBe(1);
  expect(stderr).toBe("✗ The cursor is too old (cursor_expired). Start again with --from oldest or --from now.\n");
});
