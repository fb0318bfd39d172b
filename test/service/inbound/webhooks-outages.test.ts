import { expect, test, vi } from "vitest";
import { aroundCall, breakDirectory, breakObjects, OUTAGES } from "../../support/faults.ts";
import { expectError } from "../../support/harness.ts";
import { stopTheClock } from "../chats/object/delivery/conversation.ts";
import { newContact, place } from "./fixtures.ts";
import { KINDS, taken, textOf } from "./webhook-calls.ts";

stopTheClock();

test.each(KINDS)(
  "%s gets a 503 for a new contact while the organization's object does not answer, and its repeat stores nothing twice",
  async (kind) => {
    const at = await place(kind);
    const from = newContact();
    taken(await textOf(at, kind, from, "Before")());
    const tell = textOf(at, kind, newContact(), "During");
    breakObjects("ORGANIZATIONS", "open");
    expectError(await tell(), 503, "unavailable");
    taken(await textOf(at, kind, from, "From a known contact")());
    vi.restoreAllMocks();
    taken(await tell());
    taken(await tell());
    expect(
      Object.values(await at.texts())
        .flat()
        .toSorted(),
    ).toEqual(["Before", "During", "From a known contact"]);
  },
);

test.each(KINDS.flatMap((kind) => OUTAGES.map((outage) => [kind, outage] as const)))(
  "a new contact's message on %s is stored while the directory is down (%s error)",
  async (kind, outage) => {
    const at = await place(kind);
    const [one, other] = [newContact(), newContact()];
    taken(await textOf(at, kind, one, "Before")());
    expect(await at.texts()).toEqual({ [one]: ["Before"] });
    breakDirectory(outage);
    taken(await textOf(at, kind, other, "During")());
    expect(await at.texts()).toEqual({ [one]: ["Before"], [other]: ["During"] });
  },
);

test("the first message on a channel gets a 503 while the directory is down, and its repeat is stored", async () => {
  const at = await place("telegram");
  const from = newContact();
  const tell = textOf(at, "telegram", from, "First");
  breakDirectory("bare");
  expectError(await tell(), 503, "unavailable");
  vi.restoreAllMocks();
  taken(await tell());
  expect(await at.texts()).toEqual({ [from]: ["First"] });
});

test.each(KINDS)(
  "%s gets a 503 while a chat's object does not answer, and other contacts' messages are stored",
  async (kind) => {
    const at = await place(kind);
    const [one, other] = [newContact(), newContact()];
    const tell = textOf(at, kind, one, "One");
    breakObjects("CHATS", "receive");
    expectError(await tell(), 503, "unavailable");
    vi.restoreAllMocks();
    taken(await tell());
    taken(await textOf(at, kind, other, "Other")());
    expect(await at.texts()).toEqual({ [one]: ["One"], [other]: ["Other"] });
  },
);

/** An error that an object's code throws to its caller. */
const remote = (error: Error) => Object.assign(error, { remote: true });
const OLD_OBJECT = 'The RPC receiver does not implement "receive".';
const FAULTS: [string, number, Error][] = [
  ["a bug in the code", 200, remote(new TypeError("draft is undefined"))],
  ["a value that SQLite refuses", 200, remote(new Error("string or blob too big: SQLITE_TOOBIG"))],
  ["an unexpected error", 503, remote(new Error("Unexpected"))],
  ["a missing table", 503, remote(new Error("no such table: messages: SQLITE_ERROR"))],
  ["an object that still runs older code", 503, remote(new TypeError(OLD_OBJECT))],
];

test.each(FAULTS)("the webhook of a message is answered after %s: %i", async (_what, status, error) => {
  const at = await place("telegram");
  const tell = textOf(at, "telegram", newContact(), "Hi");
  aroundCall("CHATS", "receive", { before: () => Promise.reject(error) });
  const answer = await tell();
  vi.restoreAllMocks();
  if (status === 200) return taken(answer);
  expectError(answer, 503, "unavailable");
  taken(await tell());
  expect(Object.values(await at.texts())).toEqual([["Hi"]]);
});
