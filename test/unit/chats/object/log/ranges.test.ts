import fc from "fast-check";
import { expect, test } from "vitest";
import { pageRange, rangeAfter, rangeBefore, type SeqBounds } from "../../../../../src/chats/object/log/ranges.ts";

const limits = fc.integer({ min: 1, max: 100 });
/** Half of the chats have a floor, and some have no message above it. */
const bounds = fc
  .record({
    floor: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 300 })),
    count: fc.integer({ min: 0, max: 400 }),
  })
  .map(({ floor, count }): SeqBounds => ({ floor, newest: floor + count }));
const chat = fc.record({ bounds, limit: limits });
/** The cursor may be below the floor. */
const chatAndCursor = chat
  .filter(({ bounds: { newest } }) => newest > 0)
  .chain(({ bounds: known, limit }) =>
    fc.record({
      bounds: fc.constant(known),
      limit: fc.constant(limit),
      cursor: fc.integer({ min: 1, max: known.newest }),
    }),
  );

/** The sequence numbers of a chat, newest first: the naive model of its log. */
function logOf({ floor, newest }: SeqBounds): number[] {
  return Array.from({ length: newest - floor }, (_, place) => newest - place);
}

/** The messages of a range in a log, newest first. */
function rowsOf(chatBounds: SeqBounds, { low, high }: { low: number; high: number }): number[] {
  return logOf(chatBounds).filter((seq) => seq >= low && seq <= high);
}

/** No range has a seq without a message: a row that is missing there is taken for a damaged file. */
function expectFull(chatBounds: SeqBounds, { low, high }: { low: number; high: number }): void {
  expect(rowsOf(chatBounds, { low, high })).toHaveLength(Math.max(0, high - low + 1));
}

test("a page is a slice of the log", () => {
  fc.assert(
    fc.property(chat, fc.integer({ min: 1, max: 500 }), ({ bounds: known, limit }, page) => {
      const { range, pagination } = pageRange(known, page, limit);
      expectFull(known, range);
      expect(rowsOf(known, range)).toEqual(logOf(known).slice((page - 1) * limit, page * limit));
      expect(pagination.total).toBe(logOf(known).length);
    }),
  );
});

test("all pages of a chat together are its log", () => {
  fc.assert(
    fc.property(chat, ({ bounds: known, limit }) => {
      const rows: number[] = [];
      for (let page = 1; page <= known.newest + 1; page++) {
        const { range, pagination } = pageRange(known, page, limit);
        rows.push(...rowsOf(known, range));
        if (!pagination.hasMore) break;
      }
      expect(rows).toEqual(logOf(known));
    }),
  );
});

test("before a cursor are the newest of the older messages", () => {
  fc.assert(
    fc.property(chatAndCursor, ({ bounds: known, limit, cursor }) => {
      const older = logOf(known).filter((seq) => seq < cursor);
      const { range, pagination } = rangeBefore(known, cursor, limit);
      expectFull(known, range);
      expect(rowsOf(known, range)).toEqual(older.slice(0, limit));
      expect(pagination).toEqual({ limit, total: logOf(known).length, hasMore: older.length > limit });
    }),
  );
});

test("after a cursor are the oldest of the newer messages", () => {
  fc.assert(
    fc.property(chatAndCursor, ({ bounds: known, limit, cursor }) => {
      const newer = logOf(known).filter((seq) => seq > cursor);
      const { range, pagination } = rangeAfter(known, cursor, limit);
      expectFull(known, range);
      expect(rowsOf(known, range)).toEqual(newer.slice(-limit));
      expect(pagination).toEqual({ limit, total: logOf(known).length, hasMore: newer.length > limit });
    }),
  );
});

/** What happens between two reads: this many messages arrive, and this many of the oldest are deleted. */
const changes = fc.array(fc.record({ arrived: fc.nat(9), deleted: fc.nat(9) }), { maxLength: 5 });

function changed({ floor, newest }: SeqBounds, change: { arrived: number; deleted: number } | undefined): SeqBounds {
  const after = newest + (change?.arrived ?? 0);
  return { floor: Math.min(after, floor + (change?.deleted ?? 0)), newest: after };
}

test("reading back returns each older message once, even if others arrive and the oldest are deleted", () => {
  fc.assert(
    fc.property(chat, changes, ({ bounds: known, limit }, happening) => {
      let now = known;
      let cursor = known.newest + 1;
      const rows: number[] = [];
      for (let more = true, steps = 0; more && steps <= known.newest; steps++) {
        now = changed(now, happening.pop());
        const { range, pagination } = rangeBefore(now, cursor, limit);
        expectFull(now, range);
        rows.push(...rowsOf(now, range));
        cursor = rows.at(-1) ?? cursor;
        more = pagination.hasMore;
      }
      const left = logOf({ floor: Math.min(now.floor, known.newest), newest: known.newest });
      expect(rows).toEqual(logOf(known).slice(0, Math.max(rows.length, left.length)));
    }),
  );
});

test("catching up returns each newer message once, unless it is deleted before, even if others arrive", () => {
  fc.assert(
    fc.property(chatAndCursor, changes, ({ bounds: known, limit, cursor: from }, happening) => {
      let now = known;
      let cursor = from;
      const rows: number[] = [];
      const wanted: number[] = [];
      for (let more = true, steps = 0; more && steps <= now.newest; steps++) {
        now = changed(now, happening.pop());
        const { range, pagination } = rangeAfter(now, cursor, limit);
        expectFull(now, range);
        rows.push(...rowsOf(now, range).reverse());
        for (let seq = Math.max(cursor, now.floor) + 1; seq <= Math.min(now.newest, range.high); seq++)
          wanted.push(seq);
        cursor = rows.at(-1) ?? cursor;
        more = pagination.hasMore;
      }
      expect(rows).toEqual(wanted);
      expect(Math.max(from, now.floor, ...rows)).toBe(now.newest);
    }),
  );
});

test.each([0, 7])("a chat without messages above the floor %i has one empty page", (floor) => {
  const { range, pagination } = pageRange({ floor, newest: floor }, 1, 20);
  expect(range.high).toBeLessThan(range.low);
  expect(pagination).toEqual({ page: 1, limit: 20, total: 0, totalPages: 0, hasMore: false });
});

test("the largest valid page number is empty, and has the total", () => {
  const { range, pagination } = pageRange({ floor: 5, newest: 50 }, 999_999_999_999_999, 100);
  expect(range.high).toBeLessThan(range.low);
  expect(pagination).toMatchObject({ total: 45, totalPages: 1, hasMore: false });
});
