import { expect, test } from "vitest";
import { Warnings } from "../../../../src/channels/object/warnings.ts";
import type { ChannelNews } from "../../../../src/model/channel-warning.ts";

const NOW = Date.parse("2026-11-20T12:00:00.000Z");
const DAY = 86_400_000;

function channel() {
  const stored = new Map<string, unknown>();
  let puts = 0;
  const kv = {
    get: <T>(key: string) => structuredClone(stored.get(key)) as T | undefined,
    put: (key: string, value: unknown) => {
      puts++;
      stored.set(key, structuredClone(value));
    },
  };
  const ended: string[] = [];
  const warnings = new Warnings(kv as ConstructorParameters<typeof Warnings>[0], async (id) => void ended.push(id));
  const take = (news: ChannelNews, now = NOW) => warnings.take("chn_1", news, now);
  return { warnings, take, ended, puts: () => puts };
}

test("news that say nothing write nothing", () => {
  const { take, puts, warnings } = channel();
  expect([take({}), take({ warnings: [], ended: ["quality"], state: "available" })]).toEqual([null, null]);
  expect([puts(), warnings.dueAt(), warnings.shown()]).toEqual([0, null, { warnings: [], unknown: {} }]);
});

test("at most 50 unknown names are counted, and those go on counting", () => {
  const { take, warnings } = channel();
  const names = Array.from({ length: 60 }, (_, n) => `type.t${n}`);
  take({ unknown: Object.fromEntries(names.map((name) => [name, 1])) });
  expect(take({ unknown: { "type.t0": 4, "type.t59": 1 } })).toBe("counts");
  const { unknown, warnings: shown } = warnings.shown();
  expect(Object.keys(unknown)).toEqual(names.slice(0, 50));
  expect(unknown["type.t0"]).toBe(5);
  expect(shown).toMatchObject([{ code: "unknown_fields", count: 65 }]);
  expect(shown[0]?.text.length).toBeLessThanOrEqual(500);
});

test("a code that comes or goes is told from a count", () => {
  const { take } = channel();
  const quality: ChannelNews = { warnings: [{ code: "quality", text: "RED" }] };
  expect([take(quality), take(quality), take({ ended: ["quality"] }), take({ ended: ["quality"] })]).toEqual([
    ...["codes", "counts", "codes", null],
  ]);
});

test.each<[string, (number | null)[], string[]]>([
  ["the first one", [250], []],
  ["a lower one", [1_000, 250], ["limit"]],
  ["one where there was none", [null, 1_000], ["limit"]],
  ["a lower one, reported twice", [1_000, 250, 250], ["limit"]],
  ["a higher one", [1_000, 250, 2_000], []],
  ["none", [1_000, 250, null], []],
])("of limits, %s: a warning only while it fell", (_, limits, codes) => {
  const { take, warnings } = channel();
  for (const dailyLimit of limits) take({ dailyLimit });
  expect(warnings.shown().warnings.map(({ code }) => code)).toEqual(codes);
});

test("a warning ends a week after it was last reported, and unknown names with theirs", async () => {
  const { take, warnings, ended } = channel();
  take({ warnings: [{ code: "alert", text: "Look" }], unknown: { "field.x": 1 } });
  take({ warnings: [{ code: "alert", text: "Look" }] }, NOW + DAY);
  expect(warnings.dueAt()).toBe(NOW + 7 * DAY);
  await warnings.run(NOW + 7 * DAY - 1);
  expect(ended).toEqual([]);
  await warnings.run(NOW + 7 * DAY);
  expect(warnings.shown()).toMatchObject({ warnings: [{ code: "alert", count: 2, since: NOW }], unknown: {} });
  await warnings.run(NOW + 8 * DAY);
  expect([warnings.shown().warnings, ended]).toEqual([[], ["chn_1", "chn_1"]]);
});
