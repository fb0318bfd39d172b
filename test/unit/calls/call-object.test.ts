import { expect, test } from "vitest";
import { callObject, NEARBY } from "../../../src/calls/call-object.ts";
import { newId } from "../../../src/model/id.ts";

type Namespace = DurableObjectNamespace<Rpc.DurableObjectBranded>;

/** A namespace that records the requested object and its region. `within` is the namespace of one jurisdiction. */
function fakeNamespace(place: string, within?: (jurisdiction: string) => Namespace) {
  const asked: [place: string, options: object][] = [];
  const getByName = (_id: string, options: object) => asked.push([place, options]);
  return { asked, namespace: { getByName, jurisdiction: within } as unknown as Namespace };
}

const id = (jurisdiction: "eu" | "us" | null) => newId("cht", jurisdiction);

test.each(["eu", "us"] as const)("an id of %s leads only to its jurisdiction", async (jurisdiction) => {
  const named: string[] = [];
  const inside = fakeNamespace("inside");
  const outside = fakeNamespace("outside", (name) => {
    named.push(name);
    return inside.namespace;
  });
  await callObject(outside.namespace, id(jurisdiction), () => "answer", NEARBY);
  expect([named, inside.asked, outside.asked]).toEqual([[jurisdiction], [["inside", {}]], []]);
  await callObject(outside.namespace, id(null), () => "answer", NEARBY);
  expect([named.length, outside.asked]).toEqual([1, [["outside", {}]]]);
});

test("an unavailable jurisdiction fails the call, and nothing falls back to another place", async () => {
  const { asked, namespace } = fakeNamespace("outside", () => {
    throw new Error("Jurisdiction restrictions are not available to this account");
  });
  await expect(callObject(namespace, id("eu"), () => "answer", NEARBY)).rejects.toMatchObject({ code: "unavailable" });
  expect(asked).toEqual([]);
});

test("a region is the location hint of a new object, and no region is no hint", async () => {
  const { asked, namespace } = fakeNamespace("here");
  await callObject(namespace, id(null), () => "answer", "weur");
  await callObject(namespace, id(null), () => "answer", null);
  expect(asked.map(([, options]) => options)).toEqual([{ locationHint: "weur" }, {}]);
});

/** Calls an object that throws errors with these marks in turn, and then responds. Counts the attempts. */
async function calling(...thrown: object[]) {
  const { asked, namespace } = fakeNamespace("here");
  const call = () => {
    const marks = thrown.shift();
    if (marks) throw Object.assign(new Error("broke off"), marks);
    return "answer";
  };
  const outcome = await callObject(namespace, id(null), call, NEARBY).catch((error) => error.code ?? error.message);
  return [outcome, asked.length];
}

test("a call that can be repeated is repeated once, on a new stub", async () => {
  expect(await calling({ retryable: true })).toEqual(["answer", 2]);
  expect(await calling({ retryable: true }, { retryable: true })).toEqual(["unavailable", 2]);
});

test.each([
  ["an overloaded object is not called again", { retryable: true, overloaded: true }, "unavailable"],
  ["a call that may have taken effect is not repeated", {}, "unavailable"],
  ["a fault in the object's own code is thrown unchanged", { remote: true }, "broke off"],
  ["an object that was reset is an outage", { remote: true, durableObjectReset: true }, "unavailable"],
  [
    "an outage of D1 inside the object is an outage",
    { remote: true, cause: Object.assign(new Error("Network connection lost."), { directoryDown: true }) },
    "unavailable",
  ],
  [
    "a refusal by the account's quota is an outage",
    { remote: true, message: "Exceeded allowed rows written in Durable Objects free tier." },
    "unavailable",
  ],
  [
    "a refusal by the account's billing is an outage, also as a cause",
    { remote: true, cause: new Error("Your account is not allowed to use Durable Objects.") },
    "unavailable",
  ],
  ["full storage is an outage", { remote: true, message: "database or disk is full: SQLITE_FULL" }, "unavailable"],
  [
    "damaged storage is an outage",
    { remote: true, message: "database disk image is malformed: SQLITE_CORRUPT" },
    "unavailable",
  ],
  [
    "an internal error of the platform is an outage",
    { remote: true, message: "internal error; reference = 0123456789abcdef" },
    "unavailable",
  ],
  [
    "an object that does not know the method yet, because it runs an earlier version, is an outage",
    { remote: true, message: 'The RPC receiver does not implement "assign".' },
    "unavailable",
  ],
  [
    "a wrong statement is a fault",
    { remote: true, message: "no such table: x: SQLITE_ERROR" },
    "no such table: x: SQLITE_ERROR",
  ],
])("%s", async (_name, marks, outcome) => {
  expect(await calling(marks)).toEqual([outcome, 1]);
});
