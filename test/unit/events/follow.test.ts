import fc from "fast-check";
import { expect, test } from "vitest";
import { type Doorbell, follow, READ_EVERY_MS } from "../../../src/events/follow.ts";
import type { EventPage, EventReader } from "../../../src/events/reader.ts";
import { FakeClock, settle } from "../platform/fake-clock.ts";

/** A doorbell whose rings may be lost. */
class FakeDoorbell implements Doorbell {
  isLost = false;
  isReplaced = false;
  isMute = false;
  isClosed = false;
  #heard = 0;
  #waiting: { readUpTo: number; run: () => void } | null = null;

  ring(number: number): void {
    if (this.isMute) return;
    this.#heard = number;
    this.#wake();
  }

  cut(): void {
    this.isLost = true;
    this.#wake();
  }

  onRing(readUpTo: number, run: () => void): void {
    this.#waiting = { readUpTo, run };
    this.#wake();
  }

  close(): void {
    this.isClosed = true;
  }

  #wake(): void {
    if (!this.#waiting || (!this.isLost && this.#heard <= this.#waiting.readUpTo)) return;
    const { run } = this.#waiting;
    this.#waiting = null;
    this.#heard = 0;
    run();
  }
}

/** Events 1, 2, 3 …, and a loop that reads them. */
function followed({ wait = 3_600_000, limit = 10, newest = 0, heldUntil = 0 } = {}) {
  const clock = new FakeClock();
  const controller = new AbortController();
  const doorbells: FakeDoorbell[] = [];
  const world = {
    clock,
    controller,
    doorbells,
    newest,
    /** Until then, in milliseconds from the start, nothing can be read. */
    heldUntil,
    reads: 0,
    pages: [] as string[][],
    isOver: false,
    error: undefined as unknown,
    /** Runs in the middle of the next read, or while the next doorbell is opened. */
    duringRead: () => {},
    duringOpening: () => {},
    add(): void {
      world.newest++;
      doorbells.at(-1)?.ring(world.newest);
    },
    get seen(): number[] {
      return world.pages.flat().map(Number);
    },
  };
  const startedAt = clock.now();
  let readUpTo = 0;
  const reader: EventReader = {
    get readUpTo() {
      return readUpTo;
    },
    async read(atMost: number): Promise<EventPage> {
      world.reads++;
      if (clock.now() - startedAt < world.heldUntil) {
        return { events: [], cursor: String(readUpTo), hasMore: true, heldBy: new Error("held") };
      }
      const last = Math.min(world.newest, readUpTo + atMost);
      const hasMore = last < world.newest;
      await Promise.resolve();
      world.duringRead();
      const events = Array.from({ length: last - readUpTo }, (_, index) => {
        const cursor = String(readUpTo + index + 1);
        return { type: "message.created" as const, doc: "{}", cursor };
      });
      readUpTo = last;
      return { events, cursor: String(last), hasMore };
    },
  };
  const openDoorbell = async () => {
    await Promise.resolve();
    world.duringOpening();
    const doorbell = new FakeDoorbell();
    doorbells.push(doorbell);
    return doorbell;
  };
  const pages = follow(
    { reader, openDoorbell, clock, signal: controller.signal },
    { limit, endsAt: clock.now() + wait },
  );
  const run = async () => {
    for await (const { events } of pages) world.pages.push(events.map(({ cursor }) => cursor));
  };
  run()
    .catch((error: unknown) => (world.error = error))
    .finally(() => (world.isOver = true));
  return world;
}

test("the loop ends when a newer stream takes the place of its own", async () => {
  const world = followed();
  await settle();
  const [doorbell] = world.doorbells;
  if (doorbell) doorbell.isReplaced = true;
  doorbell?.cut();
  await settle();
  expect([world.isOver, world.error, world.doorbells.length]).toEqual([true, undefined, 1]);
});

test("a page that is held is read again every three seconds, until the loop ends", async () => {
  const world = followed({ newest: 3, wait: 10_000, heldUntil: 7_000 });
  await settle();
  await world.clock.pass(6_000);
  expect([world.seen, world.reads]).toEqual([[], 3]);
  await world.clock.pass(3_000);
  expect([world.seen, world.doorbells.length]).toEqual([[1, 2, 3], 1]);
  const other = followed({ newest: 3, wait: 10_000, heldUntil: 60_000 });
  await settle();
  await other.clock.pass(10_000);
  expect([other.isOver, other.error, other.doorbells, other.reads]).toEqual([true, undefined, [], 5]);
});

test("what is there is read page by page before a doorbell is opened", async () => {
  const world = followed({ limit: 2, newest: 5 });
  world.duringOpening = () => expect(world.seen).toEqual([1, 2, 3, 4, 5]);
  await settle();
  expect(world.pages).toEqual([["1", "2"], ["3", "4"], ["5"], []]);
  expect([world.error, world.doorbells.length]).toEqual([undefined, 1]);
});

test("an event that comes before the doorbell is open is read without a ring", async () => {
  const world = followed();
  world.duringOpening = () => void world.newest++;
  await settle();
  expect(world.seen).toEqual([1]);
});

test("a ring ends the wait at once", async () => {
  const world = followed();
  await settle();
  const { reads } = world;
  await world.clock.pass(READ_EVERY_MS - 1);
  expect(world.reads).toBe(reads);
  world.add();
  await settle();
  expect(world.seen).toEqual([1]);
});

test("a ring during a read is not missed", async () => {
  const world = followed();
  await settle();
  world.duringRead = () => {
    world.duringRead = () => {};
    world.add();
  };
  world.add();
  await settle();
  expect(world.seen).toEqual([1, 2]);
});

test("a ring for something that is not there causes one read", async () => {
  const world = followed();
  await settle();
  const { reads } = world;
  world.doorbells[0]?.ring(7);
  await settle();
  expect(world.reads).toBe(reads + 1);
});

test("a lost doorbell is opened again, and what came meanwhile is read", async () => {
  const world = followed();
  await settle();
  world.doorbells[0]?.cut();
  world.duringOpening = () => void world.newest++;
  await settle();
  expect([world.doorbells.length, world.seen]).toEqual([2, [1]]);
  world.add();
  await settle();
  expect(world.seen).toEqual([1, 2]);
});

test("behind a silent doorbell an event is read after 20 seconds, and then the doorbell is replaced", async () => {
  const world = followed();
  await settle();
  const [silent] = world.doorbells;
  if (silent) silent.isMute = true;
  world.add();
  await world.clock.pass(READ_EVERY_MS);
  expect(world.seen).toEqual([1]);
  expect([silent?.isClosed, world.doorbells.length]).toEqual([true, 2]);
  world.add();
  await settle();
  expect(world.seen).toEqual([1, 2]);
});

test("while nothing comes there is an empty page every 20 seconds, and the doorbell stays", async () => {
  const world = followed();
  await settle();
  const before = world.pages.length;
  await world.clock.pass(3 * READ_EVERY_MS);
  expect(world.pages.slice(before)).toEqual([[], [], []]);
  expect(world.doorbells.length).toBe(1);
});

test("the loop ends with an empty page when its time is over, and closes the doorbell", async () => {
  const world = followed({ wait: 5_000 });
  await world.clock.pass(4_999);
  expect(world.isOver).toBe(false);
  await world.clock.pass(1);
  expect([world.isOver, world.pages.at(-1), world.doorbells[0]?.isClosed]).toEqual([true, [], true]);
  expect(world.clock.pending).toBe(0);
});

test("a loop without time reads one page and opens no doorbell", async () => {
  const world = followed({ wait: 0 });
  await settle();
  expect([world.isOver, world.pages, world.doorbells]).toEqual([true, [[]], []]);
});

test("an abort ends the wait and the loop, and nothing more is read", async () => {
  const world = followed();
  await settle();
  const { reads } = world;
  world.controller.abort();
  await settle();
  expect([world.isOver, world.reads, world.doorbells[0]?.isClosed]).toEqual([true, reads, true]);
  expect(world.clock.pending).toBe(0);
});

test("a failed read ends the loop with its error, and closes the doorbell", async () => {
  const world = followed();
  await settle();
  world.duringRead = () => {
    throw new Error("down");
  };
  world.add();
  await settle();
  expect([world.error, world.doorbells[0]?.isClosed]).toEqual([new Error("down"), true]);
});

test("with doorbells that are cut and fall silent, each event is read once and in order, at most 20 seconds late", async () => {
  const action = fc.oneof(
    fc.constant("add" as const),
    fc.constant("cut" as const),
    fc.constant("mute" as const),
    fc.constant("settle" as const),
    fc.integer({ min: 1, max: 30_000 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), async (actions, limit) => {
      const world = followed({ limit });
      for (const each of actions) {
        const doorbell = world.doorbells.at(-1);
        if (each === "add") world.add();
        else if (each === "cut") doorbell?.cut();
        else if (each === "mute" && doorbell) doorbell.isMute = true;
        else if (each === "settle") await settle();
        else if (typeof each === "number") await world.clock.pass(each);
      }
      await world.clock.pass(READ_EVERY_MS);
      await world.clock.pass(0);
      expect(world.seen).toEqual(Array.from({ length: world.newest }, (_, index) => index + 1));
      world.controller.abort();
      await settle();
      expect(world.doorbells.filter(({ isClosed, isLost }) => !isClosed && !isLost)).toEqual([]);
    }),
  );
});
