import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PLAN } from "../../src/cli/deploy/plan.ts";

const read = (path: string) => readFile(join(import.meta.dirname, "../..", path), "utf8");

/** Requests of the Worker, calls of objects, rows written. */
type Use = [requests: number, calls: number, rows: number];

const MILLION = 1_000_000;
const number = (text: string | undefined) => Number((text ?? "").replaceAll(/[$,]/g, ""));
const dollars = (value: number) => value.toLocaleString("en-US", { style: "currency", currency: "USD" });

/** What the columns of the plan's table are about, as the table of bills names it. */
const MESSAGES = {
  "web chat": "messages to a visitor whose page is open, delivered and read",
  Telegram: "messages through Telegram",
  WhatsApp: "messages through WhatsApp, with their three statuses",
};

/** The bills of messages: the price of a million that comes alone, and what one uses. */
async function bills() {
  const text = await read("src/docs/performance.md");
  const [, ...prices] =
    /a million Worker requests \$([\d.]+), object calls \$([\d.]+), rows written \$([\d.]+)/.exec(text) ?? [];
  const uses = Object.entries(MESSAGES).map(([name, row]) => {
    const line = text.split("\n").find((each) => each.startsWith(`| ${row} |`));
    const [, , price, use = ""] = (line ?? "").split("|").map((cell) => cell.trim());
    return { name, price: number(price), use: use.split(", ").map(Number) as Use };
  });
  return { prices: prices.map(Number) as Use, uses };
}

/** What a plan includes, and what the guide says of it. */
async function plan() {
  const [, text = ""] = (await read("src/docs/deploying.md")).split("\n## The plan\n");
  const section = text.split("\n## ")[0] ?? "";
  const [, ...free] =
    /has ([\d,]+) requests, ([\d,]+) calls of objects and ([\d,]+) rows written a day/.exec(section) ?? [];
  const [, ...paid] =
    /includes (\d+) million requests, (\d+) million calls of objects and (\d+) million rows written/.exec(section) ??
    [];
  const [, fee] = /\*\*Workers Paid\*\*, \$(\d+) a month/.exec(section) ?? [];
  return {
    section,
    free: free.map(number) as Use,
    paid: paid.map((each) => number(each) * MILLION) as Use,
    fee: number(fee),
  };
}

/** The messages a day that Workers Free carries, in full hundreds. */
function aDay(use: Use, free: Use): number {
  const most = Math.min(...use.map((each, at) => (free[at] ?? 0) / each));
  return Math.floor(most / 100) * 100;
}

function aMonth(messages: number, use: Use, { paid, fee }: { paid: Use; fee: number }, prices: Use): number {
  const beyond = use.map((each, at) => Math.max(0, messages * each - (paid[at] ?? 0)));
  return fee + beyond.reduce((sum, count, at) => sum + (count / MILLION) * (prices[at] ?? 0), 0);
}

test("the table of bills has the prices of its own uses", async () => {
  const { prices, uses } = await bills();
  expect(prices.every((price) => price > 0)).toBe(true);
  for (const { name, price, use } of uses) {
    expect(
      use.reduce((sum, count, at) => sum + count * (prices[at] ?? 0), 0),
      name,
    ).toBeCloseTo(price);
  }
});

test("the guide says what each plan carries and costs, by the table of bills", async () => {
  const [{ prices, uses }, known] = await Promise.all([bills(), plan()]);
  const [web = 0, telegram = 0, whatsapp = 0] = uses.map(({ use }) => aDay(use, known.free));
  const words = (count: number) => count.toLocaleString("en-US");
  expect(known.section).toContain(
    `about ${words(web)} messages a day in a web chat, ${words(telegram)} through Telegram or ${words(whatsapp)} through WhatsApp`,
  );
  const kib = Number(/months of a chat with messages, (\d+) KiB/.exec(await read("src/docs/performance.md"))?.[1]);
  const chats = Math.floor(5_000_000_000 / (kib * 1_024) / 10_000) * 10_000;
  expect(known.section).toContain(`5 GB: about ${words(chats)} chats`);
  const head = `| messages a month | ${uses.map(({ name }) => name).join(" | ")} |`;
  const row = (label: string, messages: number) =>
    `| ${label} | ${uses.map(({ use }) => dollars(aMonth(messages, use, known, prices))).join(" | ")} |`;
  expect(known.section).toContain(
    [
      head,
      "|---|---|---|---|",
      row("10,000", 10_000),
      row("1 million", MILLION),
      row("100 million", 100 * MILLION),
    ].join("\n"),
  );
});

test("the README and the deploy say the same of the dearest messages", async () => {
  const [{ prices, uses }, known, readme] = await Promise.all([bills(), plan(), read("README.md")]);
  const least = Math.min(...uses.map(({ use }) => aDay(use, known.free))).toLocaleString("en-US");
  const most = (messages: number) => dollars(Math.max(...uses.map(({ use }) => aMonth(messages, use, known, prices))));
  for (const text of [readme, PLAN]) {
    expect(text).toContain(`Workers Free carries about ${least} messages a day`);
    for (const messages of [10_000, MILLION, 100 * MILLION]) expect(text).toContain(most(messages));
    expect(text.match(/\$[\d,.]*\d/g)).toHaveLength(3);
  }
});

test("the guide to monitoring says what a read each minute costs", async () => {
  const { prices } = await bills();
  const calls = 1_000 * 60 * 24 * 30;
  const cost = dollars((calls / MILLION) * (prices[1] ?? 0));
  expect(await read("src/docs/monitoring.md")).toContain(
    `At one request a minute, this costs ${cost} a month for 1,000 organizations`,
  );
});

test("the plan says what the cron trigger takes of Workers Free", async () => {
  const [{ section, free }, net] = await Promise.all([plan(), read("src/organizations/alarm-net.ts")]);
  const runs = Number(/^const RUNS = (\d+);/m.exec(net)?.[1]);
  const aDay = 24 * 60;
  const each = aDay / runs;
  expect(section).toContain(
    `makes ${aDay.toLocaleString("en-US")} a day for up to ${runs} organizations, and ${each} for each further one, so about ` +
      `${(Math.round(free[1] / each / 100) * 100).toLocaleString("en-US")} organizations`,
  );
  expect(section).toContain(
    `Above ${(900 * runs).toLocaleString("en-US")} organizations one of its runs makes more than 900`,
  );
});
