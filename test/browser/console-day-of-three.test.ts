import { afterAll, expect, test } from "vitest";
import { type Desk, openDesk } from "./console.ts";
import {
  type Act,
  act,
  arrive,
  choose,
  type Expected,
  isAsExpected,
  leaveChat,
  type Person,
  sameAsStored,
  sameNumber,
  storedAsExpected,
} from "./day-of-three.ts";
import { browser } from "./file-browser.ts";
import { beginMovedServer } from "./moved-server.ts";

/** `npm run test:long -- day` has 200. */
const CHATS = Number(process.env.CHATS ?? 24);
const LIMIT_MS = 300_000 + CHATS * 6_000;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The last Sunday of March, at midnight UTC. */
function lastSundayOfMarch(year: number): number {
  const end = new Date(Date.UTC(year, 2, 31));
  return end.getTime() - end.getUTCDay() * DAY_MS;
}

/** The next Sunday on which Berlin's clocks go forward, if it is not too near for a day's work. A server's clock never goes back. */
const YEAR = new Date().getUTCFullYear();
const [SUNDAY = 0] = [YEAR, YEAR + 1].map(lastSundayOfMarch).filter((at) => at > Date.now() + 7 * DAY_MS);
const at = (day: number, hour: number, ms = 0) => new Date(SUNDAY + day * DAY_MS + hour * HOUR_MS + ms).toISOString();

/** In the afternoon. */
const FRIDAY = at(-2, 14);
const IN_AN_HOUR = "In an hour";
const SATURDAY_AT_9 = at(-1, 8);
const SUNDAY_AT_9 = at(0, 7);
const MONDAY_AT_9 = at(1, 7);

const service = await beginMovedServer(FRIDAY);
afterAll(() => service.end());

/** A part of the chats, at least one, that no other part has. */
function partsOf(chats: Expected[]): (share: number) => Expected[] {
  let next = 0;
  return (share) => {
    const from = next;
    next += Math.max(1, Math.round(chats.length * share));
    return chats.slice(from, next);
  };
}

test(
  `three people work at ${CHATS} chats over a weekend: each list shows what is stored, and each chat is where its history says`,
  async () => {
    const desk = await openDesk("Weekend", {}, service);
    const labels: Record<string, string> = {};
    for (const name of ["Refund", "Urgent"]) labels[name] = (await desk.api("POST", "/labels", { name })).label.id;
    const chats: Expected[] = [];
    for (let number = 0; number < CHATS; number++) {
      const name = `Customer ${number}.`;
      const { id, address } = await desk.chat(name);
      await desk.writes(address, `Question ${number}`);
      const work = { state: "open", snoozedUntil: null, assigneeId: null, labels: [], isUnanswered: true } as const;
      chats.push({ id, name, address, ...work, labels: [] });
    }
    const people: Person[] = [];
    for (const name of ["Ida", "Jo", "Kim"]) people.push(await arrive(browser, desk, name, FRIDAY));
    let now = FRIDAY;

    const moveTo = async (time: string) => {
      await service.moveTo(time);
      for (const { page } of people) await page.clock.fastForward(Date.parse(time) - Date.parse(now));
      now = time;
      for (const chat of chats) {
        if (chat.snoozedUntil === null || Date.parse(chat.snoozedUntil) > Date.parse(now)) continue;
        Object.assign(chat, { state: "open", snoozedUntil: null });
      }
    };
    /** What the browsers show is what the service has, and that is what should be. The first lists are not loaded again. */
    const look = async () => {
      for (const { page } of people) await leaveChat(page);
      await storedAsExpected(desk, chats, labels);
      for (const { page } of people) await sameAsStored(desk, page, "Inbox");
      await Promise.all(
        (["Unanswered", "Snoozed", "Closed"] as const).map(async (view, n) => {
          const { page } = people[n] as Person;
          await choose(page, view);
          await sameAsStored(desk, page, view);
          await choose(page, "Inbox");
          await sameAsStored(desk, page, "Inbox");
          await sameNumber(desk, page);
        }),
      );
    };
    /** The people do something to chats, each to others, and take it back if so. */
    const work = async (todo: { chat: Expected; what: Act; isTakenBack?: boolean }[]) => {
      await Promise.all(
        people.map(async (person, n) => {
          for (const { chat, what, isTakenBack = false } of todo.filter((_, place) => place % people.length === n)) {
            await act(person, chat, what);
            if (isTakenBack) {
              // The event of an act can show it before its response does, which offers to undo it.
              await person.page.getByRole("button", { name: "Undo (z)" }).waitFor();
              await person.page.keyboard.press("z");
            } else Object.assign(chat, outcome(chat, what, person));
            if (what.key === "s" && what.preset === IN_AN_HOUR) chat.snoozedUntil = await anHourLater(desk, chat);
            await isAsExpected(desk, chat);
          }
        }),
      );
    };
    const writes = async (some: Expected[]) => {
      for (const chat of some) {
        await desk.writes(chat.address, "One more thing");
        Object.assign(chat, { state: "open", snoozedUntil: null, isUnanswered: true });
      }
    };
    const snooze = (preset: string, until: string): Act => ({ key: "s", preset, until });

    await look();
    const part = partsOf(chats);
    const [closed, forAnHour, tilTomorrow, tilMonday, labeled] = [
      part(0.25),
      part(0.05),
      part(0.05),
      part(0.05),
      part(0.15),
    ];
    const [taken, answered, takenBack, later] = [part(0.1), part(0.1), part(0.05), part(0.05)];
    const kinds: Act[] = [{ key: "c" }, snooze("Tomorrow at 9", SATURDAY_AT_9), { key: "e" }, { key: "a" }];
    await work([
      ...closed.map((chat) => ({ chat, what: { key: "c" } as const })),
      ...forAnHour.map((chat) => ({ chat, what: snooze(IN_AN_HOUR, "") })),
      ...tilTomorrow.map((chat) => ({ chat, what: snooze("Tomorrow at 9", SATURDAY_AT_9) })),
      ...tilMonday.map((chat) => ({ chat, what: snooze("Monday at 9", MONDAY_AT_9) })),
      ...labeled.map((chat, n) => ({ chat, what: { key: "l", label: n % 2 === 0 ? "Refund" : "Urgent" } as const })),
      ...taken.map((chat) => ({ chat, what: { key: "a" } as const })),
      ...answered.map((chat) => ({ chat, what: { key: "e" } as const })),
      ...takenBack.map((chat, n) => ({ chat, what: kinds[n % kinds.length] as Act, isTakenBack: true })),
    ]);
    await look();

    await moveTo(at(-2, 16, 30 * MINUTE_MS));
    expect(forAnHour.map(({ state }) => state)).toEqual(forAnHour.map(() => "open"));
    await look();
    // These come back by their contacts' messages.
    await writes([...closed.slice(0, Math.ceil(closed.length / 5)), ...tilMonday.slice(0, tilMonday.length / 2)]);
    await look();

    // A minute after midnight, tomorrow is the day on which the clocks go forward.
    await moveTo(at(-2, 23, MINUTE_MS));
    await work(later.map((chat) => ({ chat, what: snooze("Tomorrow at 9", SUNDAY_AT_9) })));
    await look();
    for (const end of [SATURDAY_AT_9, SUNDAY_AT_9, MONDAY_AT_9]) {
      // The server's clock runs on while the test looks.
      await moveTo(new Date(Date.parse(end) - 10 * MINUTE_MS).toISOString());
      await look();
      await moveTo(new Date(Date.parse(end) + 1_000).toISOString());
      await look();
    }
    expect(chats.filter(({ state }) => state === "snoozed")).toEqual([]);
    for (const chat of chats) await isAsExpected(desk, chat);
    for (const { page } of people) await page.context().close();
  },
  LIMIT_MS,
);

/** Until when a chat is snoozed that was put off for an hour on Friday afternoon, however long the test took so far. */
async function anHourLater(desk: Desk, { id }: Expected): Promise<string> {
  const { snoozedUntil } = (await desk.api("GET", `/chats/${id}`)).chat;
  expect(Date.parse(snoozedUntil)).toBeGreaterThanOrEqual(Date.parse(FRIDAY) + HOUR_MS);
  expect(Date.parse(snoozedUntil)).toBeLessThan(Date.parse(FRIDAY) + 2 * HOUR_MS);
  return snoozedUntil;
}

/** What becomes of a chat. */
function outcome(chat: Expected, what: Act, { id }: Person): Partial<Expected> {
  if (what.key === "c") return { state: "closed", isUnanswered: false };
  if (what.key === "e") return { isUnanswered: false };
  if (what.key === "a") return { assigneeId: id };
  if (what.key === "l") return { labels: [...chat.labels, what.label] };
  return { state: "snoozed", snoozedUntil: what.until };
}
