import type { ServerResponse } from "node:http";
import { expect, test, vi } from "vitest";
import type { EventOptions } from "../../src/client/follow-events.ts";
import { readBlocks } from "../../src/client/server-sent-events.ts";
import { type Asked, clientOf, cut, json } from "./server.ts";

/** The cursor after an event is its number here. */
function eventOf(number: number) {
  return { id: `evt_${number}`, type: "message.received", chatId: "cht_g1", number, data: { text: "é\nü" } };
}

function open(response: ServerResponse): void {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.flushHeaders();
}

function frame(number: number): string {
  return `id: ${number}\nevent: message.received\ndata: ${JSON.stringify(eventOf(number))}\n\n`;
}

/** Sends three events after the cursor and half of the next one, then cuts the connection. The stream ends at `last`. */
function cutsAfterThree(last: number) {
  return (response: ServerResponse, { query }: Asked) => {
    const after = Number(query.after);
    open(response);
    response.write(": open\n\n");
    const rest = Array.from({ length: Math.max(0, last - after) }, (_, at) => after + 1 + at);
    const text = rest.slice(0, 3).map(frame).join("");
    const half = rest.length > 3 ? frame(after + 4).slice(0, 30) : "";
    response.write(Buffer.from(text + half), () => setTimeout(() => response.destroy(), 5));
  };
}

/** The numbers of the events until `last`. */
async function numbersUntil(last: number, events: AsyncGenerator<{ number: number | null }>): Promise<number[]> {
  const numbers: number[] = [];
  for await (const { number } of events) {
    numbers.push(number ?? 0);
    if (number === last) break;
  }
  return numbers;
}

test("a stream that is cut again and again yields each event once, in order", async () => {
  const { parley, asked } = await clientOf([cutsAfterThree(10)]);
  expect(await numbersUntil(10, parley.events({ after: "0" }))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(asked.map(({ path, query }) => [path, query.after])).toEqual(
    ["0", "3", "6", "9"].map((after) => ["/api/v1/events/stream", after]),
  );
});

test("who writes is told aside, is no event, and leaves the cursor where it was", async () => {
  const typing = { type: "chat.typing", chatId: "cht_g1", data: { by: { type: "contact", id: null, name: "Ada" } } };
  const told: unknown[] = [];
  const { parley, asked } = await clientOf([
    (response) => {
      open(response);
      const text = `${frame(1)}event: chat.typing\ndata: ${JSON.stringify(typing)}\n\n`;
      response.write(text, () => setTimeout(() => response.destroy(), 5));
    },
    cutsAfterThree(2),
  ]);
  const events = parley.events({ after: "0", onTyping: (event) => void told.push(event) });
  expect(await numbersUntil(2, events)).toEqual([1, 2]);
  expect(told).toEqual([typing]);
  expect(asked.map(({ query }) => query.after)).toEqual(["0", "1"]);
});

test("an event has the cursor that continues after it", async () => {
  const { parley } = await clientOf([cutsAfterThree(3)]);
  const { value } = await parley.events({ after: "1" }).next();
  expect(value).toEqual({ ...eventOf(2), cursor: "2" });
});

test("without a cursor the position is read first, so that no event is lost before the first one arrives", async () => {
  const now = json(200, { events: [], cursor: "7", hasMore: false });
  const { parley, asked } = await clientOf([now, cut, cutsAfterThree(8)]);
  const options = { types: ["message.*", "chat.created"], channel: "chn_g1" };
  expect(await numbersUntil(8, parley.events(options))).toEqual([8]);
  const filter = { types: "message.*,chat.created", channel: "chn_g1" };
  expect(asked.map(({ path, query }) => [path, query])).toEqual([
    ["/api/v1/events", { from: "now", limit: "100", ...filter }],
    ["/api/v1/events/stream", { after: "7", ...filter }],
    ["/api/v1/events/stream", { after: "7", ...filter }],
  ]);
});

test("from the oldest, pages come first and the stream continues after them", async () => {
  const page = (from: number, to: number, hasMore: boolean) => {
    const events = Array.from({ length: to - from + 1 }, (_, at) => ({
      ...eventOf(from + at),
      cursor: `${from + at}`,
    }));
    return json(200, { events, cursor: String(to), hasMore });
  };
  const { parley, asked } = await clientOf([page(1, 2, true), page(3, 4, false), cutsAfterThree(6)]);
  expect(await numbersUntil(6, parley.events({ from: "oldest" }))).toEqual([1, 2, 3, 4, 5, 6]);
  expect(asked.map(({ query }) => query.from ?? query.after)).toEqual(["oldest", "2", "4"]);
});

test.for([
  ["cursor_expired", 410],
  ["invalid_api_key", 401],
  ["stream_limit", 409],
] as const)("%s ends the events with the service's error", async ([code, status]) => {
  const { parley } = await clientOf([json(status, { error: "No", code })]);
  await expect(parley.events({ after: "0" }).next()).rejects.toMatchObject({ code, status });
});

test("a service that fails, and a limit of streams after a lost stream, are waited for and reported", async () => {
  const { parley } = await clientOf([
    json(503, { message: "Service unavailable", code: "unavailable" }),
    cutsAfterThree(9),
    json(409, { error: "Too many streams", code: "stream_limit" }),
    cutsAfterThree(9),
  ]);
  const states: string[] = [];
  const onConnection: EventOptions["onConnection"] = (state) => states.push(state.open ? "open" : state.error.code);
  expect(await numbersUntil(6, parley.events({ after: "0", onConnection }))).toEqual([1, 2, 3, 4, 5, 6]);
  expect(states).toEqual(["unavailable", "open", "unreachable", "stream_limit", "open"]);
});

/** A client of a stream that stays open after its first event, and the end of its connection. */
async function openStream() {
  const closed = Promise.withResolvers<void>();
  const { parley } = await clientOf([
    (response) => {
      open(response);
      response.write(frame(1));
      response.on("close", () => closed.resolve());
    },
  ]);
  return { parley, closed: closed.promise };
}

test("an aborted stream ends the loop and its connection", async () => {
  const { parley, closed } = await openStream();
  const abort = new AbortController();
  for await (const { number } of parley.events({ after: "0", signal: abort.signal })) {
    expect(number).toBe(1);
    abort.abort();
  }
  await closed;
});

test("a break of the loop closes the connection", async () => {
  const { parley, closed } = await openStream();
  expect(await numbersUntil(1, parley.events({ after: "0" }))).toEqual([1]);
  await closed;
});

test("a stream without a sign of life for a minute is opened again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const opened = Promise.withResolvers<void>();
    const { parley, asked } = await clientOf([(response) => open(response), cutsAfterThree(1)]);
    const onConnection = () => opened.resolve();
    const next = parley.events({ after: "0", onConnection }).next();
    await opened.promise;
    await vi.advanceTimersByTimeAsync(59_000);
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_000);
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(500);
      expect(asked).toHaveLength(2);
    }, 60_000);
    expect((await next).value).toMatchObject({ number: 1 });
  } finally {
    vi.useRealTimers();
  }
});

test.for([1, 2, 3, 1_000])("blocks are read from pieces of %i bytes, with any line ends", async (size) => {
  const text = ': comment\r\n\r\nid: a\r\ndata: é\r\ndata:two\r\n\r\nevent: x\rdata: three\r\rid: b\n\ndata: {"cut":';
  const bytes = new TextEncoder().encode(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const blocks = await Array.fromAsync(readBlocks(body, () => {}));
  expect(blocks).toEqual([
    { id: "a", data: "é\ntwo" },
    { id: "a", data: "three" },
    { id: "b", data: null },
  ]);
});
