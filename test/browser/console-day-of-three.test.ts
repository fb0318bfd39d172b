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
  storedAsExpected,
} from "./day-of-three.ts";
import { browser } from "./file-browser.ts";
import { beginMovedServer } from "./moved-server.ts";

/** `npm run test:long -- day` has 200. */
const CHATS = Number(process.env.CHATS ?? 24);
const LIMIT_MS = 120_000 + CHATS * 6_000;

/** A Friday afternoon in Berlin. On Sunday the clocks go forward. */
const FRIDAY = "2027-03-26T14:00:00Z";
const HOUR_MS = 3_600_000;
const IN_AN_HOUR = "In an hour";
const SATURDAY_AT_9 = "2027-03-27T08:00:00.000Z";
const SUNDAY_AT_9 = "2027-03-28T07:00:00.000Z";
const MONDAY_AT_9 = "2027-03-29T07:00:00.000Z";

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

    await moveTo("2027-03-26T16:30:00Z");
    expect(forAnHour.map(({ state }) => state)).toEqual(forAnHour.map(() => "open"));
    await look();
    // These come back by their contacts' messages.
    await writes([...closed.slice(0, Math.ceil(closed.length / 5)), ...tilMonday.slice(0, tilMonday.length / 2)]);
    await look();

    // A minute after midnight, tomorrow is the day on which the clocks go forward.
    await moveTo("2027-03-26T23:01:00Z");
    await work(later.map((chat) => ({ chat, what: snooze("Tomorrow at 9", SUNDAY_AT_9) })));
    await look();
    for (const [before, after] of [
      ["2027-03-27T07:59:30Z", "2027-03-27T08:00:01Z"],
      ["2027-03-28T06:59:30Z", "2027-03-28T07:00:01Z"],
      ["2027-03-29T06:59:30Z", "2027-03-29T07:00:01Z"],
    ] as const) {
      await moveTo(before);
      await look();
      await moveTo(after);
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
