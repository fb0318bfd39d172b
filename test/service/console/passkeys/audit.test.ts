import { expect, test, vi } from "vitest";
import { ACTION_NAMES, actionSpec } from "../../../../src/model/audit-action.ts";
import { newId } from "../../../../src/model/id.ts";
import { Authenticator } from "../../../support/authenticator.ts";
import { watchSteps } from "../../../support/faults.ts";
import { type Answer, admin, created, expectError } from "../../../support/harness.ts";
import { added, newPerson, optionsFor } from "./fixtures.ts";

type Person = Awaited<ReturnType<typeof newPerson>>;

/** What a member does with its own passkeys. */
const ACTS: Record<string, { run: (person: Person, id: string) => Promise<() => Promise<Answer>>; changed: string[] }> =
  {
    "passkey.create": {
      run: async ({ ask }) => {
        const { publicKey } = await optionsFor(ask);
        const credential = await (await Authenticator.make()).create(publicKey);
        return () => ask("POST", "/passkeys", { name: "canary-name", credential });
      },
      changed: ["name", "credential"],
    },
    "passkey.update": {
      run:
        async ({ ask }, id) =>
        () =>
          ask("PATCH", `/passkeys/${id}`, { name: "canary-name" }),
      changed: ["name"],
    },
    "passkey.delete": {
      run:
        async ({ ask }, id) =>
        () =>
          ask("DELETE", `/passkeys/${id}`),
      changed: [],
    },
  };

async function entriesOf({ organizationId }: Person, action: string) {
  return (await admin("GET", `/organizations/${organizationId}/audit?action=${action}`)).body.entries;
}

test("each action of members alone is tested here", () => {
  expect(Object.keys(ACTS)).toEqual(ACTION_NAMES.filter((action) => actionSpec(action).needs === null));
});

test.each(Object.entries(ACTS))(
  "%s does nothing without its entry, and leaves one entry, with no value of the request",
  async (action, { run, changed }) => {
    const person = await newPerson();
    const { id } = await added(person.ask);
    const before = (await person.ask("GET", "/passkeys")).body.passkeys;
    const act = await run(person, id);
    const known = await entriesOf(person, action);
    const steps = watchSteps({ beginAct: () => () => Promise.reject(new Error("internal error")) });
    expectError(await act(), 503, "unavailable");
    expect(steps.filter((step) => step !== "ORGANIZATIONS.member")).toEqual(["ORGANIZATIONS.beginAct"]);
    vi.restoreAllMocks();
    expect((await person.ask("GET", "/passkeys")).body.passkeys).toEqual(before);
    const logged = vi.spyOn(console, "log");
    const answer = await act();
    expect(answer.status, answer.text).toBeLessThan(300);
    const [entry, ...others] = await entriesOf(person, action);
    expect(others).toEqual(known);
    expect(entry).toMatchObject({
      actor: { type: "member", id: person.ownerId, name: "Ada" },
      target: answer.body.passkey.id,
      status: answer.status,
      requestId: answer.headers.get("X-Request-Id"),
      changed,
      linkBy: "operator",
      count: 1,
    });
    expect(JSON.stringify([entry, logged.mock.calls])).not.toContain("canary");
  },
);

test("what is refused has an entry with its status, and no entry names text that is no id", async () => {
  const person = await newPerson();
  const { ask } = person;
  const unknown = newId("psk", null);
  expectError(await ask("DELETE", `/passkeys/${unknown}`), 404, "passkey_not_found");
  expectError(await ask("DELETE", "/passkeys/canary"), 404, "passkey_not_found");
  expect(
    (await entriesOf(person, "passkey.delete")).map(({ target, status }: Record<string, unknown>) => [target, status]),
  ).toEqual([
    [null, 404],
    [unknown, 404],
  ]);
});

test("no entry and no log line has a challenge, a credential or a key", async () => {
  const person = await newPerson();
  const { publicKey } = await optionsFor(person.ask);
  const credential = await (await Authenticator.make()).create(publicKey);
  const logged = vi.spyOn(console, "log");
  created(await person.ask("POST", "/passkeys", { name: "Laptop", credential }));
  const text = JSON.stringify([logged.mock.calls, await entriesOf(person, "passkey.create")]);
  for (const secret of [publicKey.challenge, credential.id, credential.response.attestationObject]) {
    expect(text).not.toContain(secret);
  }
});
