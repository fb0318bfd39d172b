import { expect, test } from "vitest";
import type { EventPage } from "../../../src/events/reader.ts";
import { MAX_STREAM_CALLS, MAX_STREAM_EVENTS, writeStream } from "../../../src/events/stream.ts";
import { turns, until } from "../../support/until.ts";
import { FakeClock } from "../platform/fake-clock.ts";

/** Lets reads and writes of streams finish. */
const turn = () => turns(5);

function pageOf(count: number, cursor = "c"): EventPage {
  const events = Array.from({ length: count }, () => ({
    type: "message.created" as const,
    doc: '{"number":1}',
    cursor,
  }));
  return { events, cursor, hasMore: false };
}

/** A stream whose pages a test gives one by one, and its client. */
function opened() {
  const clock = new FakeClock();
  const controller = new AbortController();
  const { readable, writable } = new IdentityTransformStream();
  const reader = (readable as ReadableStream<Uint8Array>).getReader();
  let give: (page: EventPage | null) => void = () => {};
  const world = {
    writeNow: (_frame: string) => {},
    clock,
    controller,
    asked: 0,
    isClosed: false,
    calls: 0,
    lost: 0,
    probes: 0,
    /** For each stall, whether the client has read since. */
    stalls: [] as boolean[],
    give: (page: EventPage | null) => give(page),
    /** What the client reads next, without the probes. */
    async read(): Promise<string | null> {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return null;
        const text = new TextDecoder().decode(value);
        if (text !== ":\n") return text;
        world.probes++;
      }
    },
    leave: () => reader.cancel(),
    over: undefined as unknown as Promise<void>,
  };
  async function* pages() {
    try {
      for (;;) {
        world.asked++;
        const page = await new Promise<EventPage | null>((resolve) => (give = resolve));
        if (!page) return;
        yield page;
      }
    } finally {
      world.isClosed = true;
    }
  }
  world.over = writeStream(writable, pages(), {
    clock,
    signal: controller.signal,
    endsAt: clock.now() + 900_000,
    calls: () => world.calls,
    onOpen(write) {
      world.writeNow = write;
    },
    onLost() {
      world.lost++;
      controller.abort();
      give(null);
    },
    onStalled(resumed) {
      world.stalls.push(false);
      const index = world.stalls.length - 1;
      void resumed.then(() => (world.stalls[index] = true));
    },
  });
  return world;
}

test("the first frame has the time to retry; a frame has the cursor, the type and the event", async () => {
  const stream = opened();
  stream.give(pageOf(1, "one"));
  expect(await stream.read()).toBe('retry: 2000\nid: one\nevent: message.created\ndata: {"number":1}\n\n');
  await turn();
  stream.give(pageOf(2, "two"));
  expect(await stream.read()).toBe('id: two\nevent: message.created\ndata: {"number":1}\n\n'.repeat(2));
});

test("a page without events is a comment, at most every 20 seconds", async () => {
  const stream = opened();
  stream.give(pageOf(0, "one"));
  expect(await stream.read()).toBe("retry: 2000\n:\nid: one\n\n");
  await turn();
  await stream.clock.pass(19_999);
  stream.give(pageOf(0, "two"));
  await turn();
  await stream.clock.pass(1);
  stream.give(pageOf(0, "three"));
  expect(await stream.read()).toBe(":\nid: three\n\n");
});

test("no page is asked for while the client does not read the one before", async () => {
  const stream = opened();
  stream.give(pageOf(1));
  await turn();
  expect(stream.asked).toBe(1);
  await stream.read();
  await turn();
  expect(stream.asked).toBe(2);
});

test("a client that does not read gets nothing more after an abort", async () => {
  const stream = opened();
  stream.give(pageOf(1));
  await turn();
  stream.controller.abort();
  await stream.over;
  expect(stream.isClosed).toBe(true);
  await expect(stream.read()).rejects.toThrow();
});

test("after an abort, a page that comes late is not sent", async () => {
  const stream = opened();
  stream.controller.abort();
  stream.give(pageOf(1));
  expect(await stream.read()).toBeNull();
  await stream.over;
});

test("an empty comment line every two seconds shows that the client is there", async () => {
  const stream = opened();
  const text = stream.read();
  await turn();
  for (let seconds = 0; seconds < 10; seconds++) {
    await stream.clock.pass(1_000);
    await turn();
  }
  stream.give(pageOf(1, "one"));
  expect(await text).toContain("id: one");
  expect([stream.probes, stream.stalls, stream.lost]).toEqual([5, [], 0]);
});

test("a client that left is noticed within two seconds, although nothing happens", async () => {
  const stream = opened();
  await turn();
  await stream.leave();
  await stream.clock.pass(2_000);
  await turn();
  await stream.over;
  expect([stream.lost, stream.isClosed, stream.clock.pending]).toEqual([1, true, 0]);
});

test("a client that reads nothing for four seconds gives up its place, until it reads again", async () => {
  const stream = opened();
  stream.give(pageOf(1, "one"));
  await turn();
  await stream.clock.pass(3_999);
  expect(stream.stalls).toEqual([]);
  await stream.clock.pass(1);
  expect(stream.stalls).toEqual([false]);
  expect(await stream.read()).toContain("id: one");
  await turn();
  expect(stream.stalls).toEqual([true]);
  // Nothing happens, and the client does not read the probe either.
  await stream.clock.pass(2_000);
  await turn();
  await stream.clock.pass(4_000);
  expect(stream.stalls).toEqual([true, false]);
  stream.controller.abort();
  stream.give(null);
  await stream.over;
  await turn();
  expect(stream.stalls).toEqual([true, true]);
});

test("a stream ends after 5,000 calls, also if a filter leaves nothing to send", async () => {
  for (const [before, count] of [
    [0, 1],
    [1, 0],
  ] as const) {
    const stream = opened();
    if (before > 0) {
      stream.give(pageOf(1));
      await stream.read();
      await turn();
    }
    stream.calls = MAX_STREAM_CALLS;
    stream.give(pageOf(count));
    if (count > 0) expect(await stream.read()).toContain("event: message.created");
    expect(await stream.read()).toBeNull();
    await stream.over;
    expect(stream.isClosed).toBe(true);
  }
});

test("a client that never reads is left after 15 minutes", async () => {
  const stream = opened();
  stream.give(pageOf(1));
  await turn();
  await stream.clock.pass(900_000);
  await stream.over;
  expect([stream.isClosed, stream.clock.pending]).toEqual([true, 0]);
});

test("a stream ends after 10,000 events", async () => {
  const stream = opened();
  let text = "";
  const read = async () => {
    for (let part = await stream.read(); part !== null; part = await stream.read()) text += part;
  };
  const done = read();
  for (let page = 1; page <= 100; page++) {
    await until(`page ${page} is asked for`, () => stream.asked >= page);
    stream.give(pageOf(100));
  }
  await done;
  await stream.over;
  expect([text.split("data:").length - 1, stream.asked]).toEqual([MAX_STREAM_EVENTS, 100]);
});

test("a stream ends with its pages", async () => {
  const stream = opened();
  stream.give(null);
  expect(await stream.read()).toBeNull();
  await stream.over;
});

test("a client that left ends the stream with the next page", async () => {
  const stream = opened();
  await stream.leave();
  stream.give(pageOf(1));
  await stream.over;
  expect(stream.isClosed).toBe(true);
});

test("once nothing more may be sent, no frame is written", async () => {
  const stream = opened();
  await turn();
  stream.give(pageOf(1));
  expect(await stream.read()).toContain("message.created");
  await turn();
  stream.controller.abort();
  stream.writeNow("event: chat.typing\ndata: {}\n\n");
  stream.give(null);
  expect(await stream.read()).toBeNull();
  await stream.over;
});

test("a client that reads nothing gets no second frame, and gives up its place as after a page", async () => {
  const stream = opened();
  stream.give(pageOf(1));
  await turn();
  stream.writeNow("behind a page\n\n");
  expect(await stream.read()).toContain("message.created");
  await turn();
  stream.writeNow("first\n\n");
  stream.writeNow("behind the first\n\n");
  await stream.clock.pass(3_999);
  expect(stream.stalls).toEqual([]);
  await stream.clock.pass(1);
  expect(stream.stalls).toEqual([false]);
  expect(await stream.read()).toBe("first\n\n");
  await turn();
  expect([stream.stalls, stream.lost]).toEqual([[true], 0]);
  stream.give(null);
  expect(await stream.read()).toBeNull();
  await stream.over;
});

test("a frame to a client that left ends the stream", async () => {
  const stream = opened();
  stream.give(pageOf(1));
  await stream.read();
  await turn();
  await stream.leave();
  stream.writeNow("first\n\n");
  await stream.over;
  expect([stream.lost, stream.isClosed, stream.clock.pending]).toEqual([1, true, 0]);
});
