import { expect, test, vi } from "vitest";
import { Authenticator } from "../../../support/authenticator.ts";
import { browser, cookieOf, signInMember } from "../../../support/console.ts";
import { breakDirectory } from "../../../support/faults.ts";
import { admin, created, expectError, expectFaults } from "../../../support/harness.ts";
import { heldDatabase } from "../../../support/held-database.ts";
import {
  added,
  countOf,
  newColleague,
  newPerson,
  optionsFor,
  send,
  signInOptions,
  tryPasskey,
  withPasskey,
} from "./fixtures.ts";

const MINUTE_MS = 60_000;

/** The test's D1 for a request whose statement waits past the end of a challenge of `from`, while others sign in. */
async function waitingPastItsEnd(statement: RegExp, from: number): Promise<Partial<Env>> {
  const { authenticator } = await added((await newPerson()).ask);
  vi.setSystemTime(from + 5 * MINUTE_MS - 1_000);
  return heldDatabase(statement, async () => {
    vi.setSystemTime(from + 5 * MINUTE_MS + 20_000);
    expect((await tryPasskey(authenticator)).status).toBe(204);
  });
}

test("an answer counts once, also if the directory lets its repeat wait past the challenge's end", async () => {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now });
  const { authenticator } = await added((await newPerson()).ask);
  const answer = await authenticator.get(await signInOptions());
  expect((await send(answer)).status).toBe(204);
  const bindings = await waitingPastItsEnd(/^update "passkeys"/, now);
  expectError(await send(answer, { bindings }), 401, "passkey_refused", /challenge was used/);
});

test("a challenge makes one passkey, also if the directory lets a second one wait past its end", async () => {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now });
  const { ask } = await newPerson();
  const { publicKey } = await optionsFor(ask);
  const make = async () => ({ name: "Laptop", credential: await (await Authenticator.make()).create(publicKey) });
  created(await ask("POST", "/passkeys", await make()));
  const bindings = await waitingPastItsEnd(/insert into "passkeys"/, now);
  expectFaults(await ask("POST", "/passkeys", await make(), { bindings }), "credential");
  expect((await ask("GET", "/passkeys")).body.passkeys).toHaveLength(1);
});

test.each<[string, (memberId: string) => Promise<unknown>]>([
  ["is removed", (id) => admin("DELETE", `/members/${id}`)],
  ["is signed out everywhere", (id) => admin("DELETE", `/members/${id}/sessions`)],
  ["gains a permission", (id) => admin("PATCH", `/members/${id}`, { permissions: "manager" })],
])("a member who %s while it signs in with a passkey is not signed in", async (_, change) => {
  const { organizationId } = await newPerson();
  const bea = await newColleague(organizationId);
  const { authenticator } = await added(browser(await signInMember(bea)));
  const answer = await authenticator.get(await signInOptions());
  const bindings = heldDatabase(/^update "passkeys"/, () => change(bea));
  const refused = await send(answer, { bindings });
  expectError(refused, 401, "passkey_refused");
  expect(refused.headers.get("Set-Cookie")).toBeNull();
});

test("a sign-out everywhere also ends the session that its own passkey begins at that moment", async () => {
  const { ask, organizationId, ownerId } = await newPerson();
  const { authenticator } = await added(ask);
  const caller = await withPasskey(authenticator);
  const answer = await authenticator.get(await signInOptions());
  const bindings = heldDatabase(/^update "passkeys"/, async () => {
    const path = `/organizations/${organizationId}/members/${ownerId}/sessions`;
    expect((await caller("DELETE", path)).status).toBe(200);
  });
  const begun = await send(answer, { bindings });
  expect(begun.status).toBe(204);
  expectError(await browser(cookieOf(begun))("GET", "/session"), 401, "not_signed_in");
  expect((await tryPasskey(authenticator)).status).toBe(204);
});

test("while the directory is down, passkeys get 503 and nothing is used up", async () => {
  const { ask, organizationId, ownerId } = await newPerson();
  const { authenticator } = await added(ask);
  const { publicKey } = await optionsFor(ask);
  const body = { name: "Phone", credential: await (await Authenticator.make()).create(publicKey) };
  const answer = await authenticator.get(await signInOptions());
  vi.spyOn(console, "error").mockReturnValue();
  breakDirectory("bare");
  const refused = [
    await send(answer),
    await ask("GET", "/passkeys"),
    await ask("GET", "/passkeys/options"),
    await ask("POST", "/passkeys", body),
  ];
  vi.restoreAllMocks();
  for (const each of refused) expectError(each, 503, "unavailable");
  expect((await send(answer)).status).toBe(204);
  created(await ask("POST", "/passkeys", body));
  expect(await countOf(organizationId, ownerId)).toBe(2);
});
