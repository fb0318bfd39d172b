import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { WriteBehind } from "../../../../src/platform/object/write-behind.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const DELAY_MS = 5_000;
const RETRY_MS = 15_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Copies `value` to a target whose writes the test ends: `writes[n].end()` or `writes[n].fail()`. */
class Copy extends WriteBehind<string> {
  protected readonly delayMs = DELAY_MS;
  protected readonly retryMs = RETRY_MS;
  readonly writes: { value: string; end(): void; fail(error?: Error): void }[] = [];
  value: string | null = null;

  protected current(): string | null {
    return this.value;
  }

  protected write(value: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.writes.push({ value, end: resolve, fail: (error = new Error("Network connection lost.")) => reject(error) });
    });
  }

  protected failure(value: string) {
    return { event: "copy_not_written", value };
  }
}

/** Like `Copy`, but stores a list of pending values and writes two at a time. */
class Queue extends WriteBehind<string[]> {
  protected readonly delayMs = DELAY_MS;
  protected readonly retryMs = RETRY_MS;
  readonly target: string[][] = [];
  pending: string[] = [];
  onWrite = () => {};

  protected current(): string[] | null {
    return this.pending.length > 0 ? this.pending.slice(0, 2) : null;
  }

  protected async write(values: string[]): Promise<void> {
    this.target.push(values);
    this.onWrite();
  }

  protected override written(values: string[]): void {
    this.pending = this.pending.filter((value) => !values.includes(value));
  }

  protected failure() {
    return { event: "queue_not_written" };
  }
}

function copyOf(value: string): Copy {
  const copy = new Copy();
  copy.value = value;
  return copy;
}

/** Writes the value, and ends the write. */
async function flushed(copy: Copy): Promise<number | null> {
  const flush = copy.flush();
  copy.writes.at(-1)?.end();
  return await flush;
}

test("nothing is due or written without a value", async () => {
  const copy = new Copy();
  expect([copy.dueAt(), await copy.flush(), copy.writes]).toEqual([null, null, []]);
});

test("a changed value is due after the delay, and not pending once it is written", async () => {
  const copy = copyOf("a");
  expect([copy.changed(), copy.dueAt()]).toEqual([NOW + DELAY_MS, NOW + DELAY_MS]);
  expect(await flushed(copy)).toBeNull();
  expect([copy.dueAt(), await copy.flush()]).toEqual([null, null]);
  copy.value = "b";
  expect(copy.dueAt()).toBe(NOW + DELAY_MS);
  await flushed(copy);
  expect(copy.writes.map(({ value }) => value)).toEqual(["a", "b"]);
});

test("one write is under way at a time, and a change during the write is left for the next one", async () => {
  const copy = copyOf("a");
  const first = copy.flush();
  copy.value = "b";
  const second = copy.flush();
  expect([copy.writes.length, copy.dueAt()]).toEqual([1, NOW + RETRY_MS]);
  copy.writes[0]?.end();
  expect([await first, await second]).toEqual([NOW + DELAY_MS, NOW + DELAY_MS]);
  await flushed(copy);
  expect(copy.writes.map(({ value }) => value)).toEqual(["a", "b"]);
});

test("a failed write is logged and repeated after the longer delay, until a write succeeds", async () => {
  const warnings = vi.spyOn(console, "warn").mockImplementation(() => {});
  const copy = copyOf("a");
  const flush = copy.flush();
  copy.writes[0]?.fail();
  expect(await flush).toBe(NOW + RETRY_MS);
  const error = expect.stringContaining("Network connection lost.");
  expect(warnings.mock.calls).toEqual([[{ event: "copy_not_written", value: "a", error }]]);
  expect([copy.changed(), copy.dueAt()]).toEqual([NOW + RETRY_MS, NOW + RETRY_MS]);
  vi.setSystemTime(NOW + RETRY_MS);
  expect(copy.dueAt()).toBe(NOW + RETRY_MS);
  expect(await flushed(copy)).toBeNull();
  expect(copy.changed()).toBe(NOW + RETRY_MS + DELAY_MS);
});

/** Fails to write the value with this error. */
async function failed(copy: Copy, error?: Error): Promise<void> {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  const flush = copy.flush();
  copy.writes.at(-1)?.fail(error);
  await flush;
}

test("after a failed write, nothing is written until its time has come, however often it is flushed", async () => {
  const copy = copyOf("a");
  await failed(copy);
  vi.setSystemTime(NOW + RETRY_MS - 1);
  copy.value = "b";
  expect([await copy.flush(), await copy.flush(), copy.changed()]).toEqual(Array(3).fill(NOW + RETRY_MS));
  expect(copy.writes).toHaveLength(1);
  // A clock that was set back does not lengthen the time.
  vi.setSystemTime(NOW - 1);
  await flushed(copy);
  expect(copy.writes.map(({ value }) => value)).toEqual(["a", "b"]);
});

test.each([
  ["lost the connection", {}, 2],
  ["said that it is overloaded", { overloaded: true }, 1],
  ["said so through a call that failed", { cause: { overloaded: true } }, 1],
])(
  "a client's request does not wait for a target that failed, unless it is overloaded: it %s",
  async (_, properties, writes) => {
    const copy = copyOf("a");
    await failed(copy, Object.assign(new Error("The write failed"), properties));
    const flush = copy.flush(true);
    copy.writes[1]?.end();
    await flush;
    expect(copy.writes).toHaveLength(writes);
  },
);

test("a value that was written before is written again after a failed write, which may have reached the target", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  const copy = copyOf("a");
  await flushed(copy);
  copy.value = "b";
  const flush = copy.flush();
  copy.writes[1]?.fail();
  await flush;
  copy.value = "a";
  expect(copy.dueAt()).toBe(NOW + RETRY_MS);
  vi.setSystemTime(NOW + RETRY_MS);
  await flushed(copy);
  expect(copy.writes.map(({ value }) => value)).toEqual(["a", "b", "a"]);
});

test.each(["end", "fail"] as const)("an erasure during a write leaves nothing to do (%s)", async (outcome) => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  const copy = copyOf("a");
  const flush = copy.flush();
  copy.value = null;
  copy.forget();
  copy.writes[0]?.[outcome]();
  expect(await flush).toBeNull();
  // The same value under the same id, created again: the target may have lost the first one.
  copy.value = "a";
  expect(copy.dueAt()).toBe(NOW + DELAY_MS);
});

test("what an owner stores is pending until `written` deletes it, and more than one write takes follows later", async () => {
  const queue = new Queue();
  queue.pending = ["a", "b", "c"];
  expect(await queue.flush()).toBe(NOW + DELAY_MS);
  queue.onWrite = () => {
    queue.pending = [...queue.pending, "d"];
    queue.onWrite = () => {};
  };
  expect(await queue.flush()).toBe(NOW + DELAY_MS);
  expect(await queue.flush()).toBeNull();
  expect(queue.target).toEqual([["a", "b"], ["c"], ["d"]]);
});

test("`written` is not called for a write during which everything was erased", async () => {
  const queue = new Queue();
  queue.pending = ["a"];
  queue.onWrite = () => queue.forget();
  expect(await queue.flush()).toBeNull();
  expect(queue.pending).toEqual(["a"]);
});
