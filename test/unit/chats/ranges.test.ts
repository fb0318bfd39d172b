import fc from "fast-check";
import { expect, test } from "vitest";
import { pageRange, rangeAfter, rangeBefore } from "../../../src/chats/log/ranges.ts";

const limits = fc.integer({ min: 1, max: 100 });
const chat = fc.record({ newest: fc.integer({ min: 0, max: 400 }), limit: limits });
const chatAndCursor = chat
  .filter(({ newest }) => newest > 0)
  .chain(({ newest, limit }) =>
    fc.record({ newest: fc.constant(newest), limit: fc.constant(limit), cursor: fc.integer({ min: 1, max: newest }) }),
  );

/** The sequence numbers of a chat, newest first: the naive model of its log. */
function logOf(newest: number): number[] {
  return Array.from({ length: newest }, (_, place) => newest - place);
}

/** The messages of a range in a log of `newest` messages, newest first. */
function rowsOf(newest: number, { low, high }: { low: number; high: number }): number[] {
  return logOf(newest).filter((seq) => seq >= low && seq <= high);
}

test("a page is a slice of the log", () => {
  fc.assert(
    fc.property(chat, fc.integer({ min: 1, max: 500 }), ({ newest, limit }, page) => {
      const { range } = pageRange(newest, page, limit);
      expect(rowsOf(newest, range)).toEqual(logOf(newest).slice((page - 1) * limit, page * limit));
    }),
  );
});

test("all pages of a chat together are its log", () => {
  fc.assert(
    fc.property(chat, ({ newest, limit }) => {
      const rows: number[] = [];
      for (let page = 1; page <= newest + 1; page++) {
        const { range, pagination } = pageRange(newest, page, limit);
        rows.push(...rowsOf(newest, range));
        if (!pagination.hasMore) break;
      }
      expect(rows).toEqual(logOf(newest));
    }),
  );
});

test("before a cursor are the newest of the older messages", () => {
  fc.assert(
    fc.property(chatAndCursor, ({ newest, limit, cursor }) => {
      const older = logOf(newest).filter((seq) => seq < cursor);
      const { range, pagination } = rangeBefore(newest, cursor, limit);
      expect(rowsOf(newest, range)).toEqual(older.slice(0, limit));
      expect(pagination).toEqual({ limit, total: newest, hasMore: older.length > limit });
    }),
  );
});

test("after a cursor are the oldest of the newer messages", () => {
  fc.assert(
    fc.property(chatAndCursor, ({ newest, limit, cursor }) => {
      const newer = logOf(newest).filter((seq) => seq > cursor);
      const { range, pagination } = rangeAfter(newest, cursor, limit);
      expect(rowsOf(newest, range)).toEqual(newer.slice(-limit));
      expect(pagination).toEqual({ limit, total: newest, hasMore: newer.length > limit });
    }),
  );
});

test("reading back from the newest message returns each older one once, even if others arrive", () => {
  fc.assert(
    fc.property(chat, fc.array(fc.nat(9), { maxLength: 5 }), ({ newest, limit }, arrivals) => {
      let now = newest;
      let cursor = newest + 1;
      const rows: number[] = [];
      for (let more = newest > 0, steps = 0; more && steps <= newest; steps++) {
        now += arrivals.pop() ?? 0;
        const { range, pagination } = rangeBefore(now, cursor, limit);
        rows.push(...rowsOf(now, range));
        cursor = rows.at(-1) ?? 0;
        more = pagination.hasMore;
      }
      expect(rows).toEqual(logOf(newest));
    }),
  );
});

test("catching up from a cursor returns each newer message once, even if others arrive", () => {
  fc.assert(
    fc.property(chatAndCursor, fc.array(fc.nat(9), { maxLength: 5 }), ({ newest, limit, cursor: from }, arrivals) => {
      let now = newest;
      let cursor = from;
      const rows: number[] = [];
      for (let more = true, steps = 0; more && steps <= now; steps++) {
        now += arrivals.pop() ?? 0;
        const { range, pagination } = rangeAfter(now, cursor, limit);
        rows.push(...rowsOf(now, range).reverse());
        cursor = rows.at(-1) ?? cursor;
        more = pagination.hasMore;
      }
      expect(rows).toEqual(logOf(now).reverse().slice(from));
    }),
  );
});

test("an empty chat has one empty page", () => {
  const { range, pagination } = pageRange(0, 1, 20);
  expect(rowsOf(0, range)).toEqual([]);
  expect(pagination).toEqual({ page: 1, limit: 20, total: 0, totalPages: 0, hasMore: false });
});

test("the largest valid page number is empty, and has the total", () => {
  const { range, pagination } = pageRange(45, 999_999_999_999_999, 100);
  expect(range.high).toBeLessThan(range.low);
  expect(pagination).toMatchObject({ total: 45, totalPages: 1, hasMore: false });
});
