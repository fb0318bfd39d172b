import type { Random } from "../../support/random.ts";

/** A change of a payload, as a network, a proxy or an attacker may make one. */
type Change = (value: Record<string, unknown>, key: string, random: Random) => void;

/** A field of the object itself, whatever its name. */
const OWN = { enumerable: true, configurable: true, writable: true };
const HUGE = "x".repeat(200_000);
const STRANGE: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  "",
  "a word",
  "\ud800",
  [],
  {},
  [[]],
  [null],
  { a: { b: [] } },
];

const CHANGES: Change[] = [
  (value, key) => {
    delete value[key];
  },
  (value, key, random) => {
    // A copy: later changes go into it.
    value[key] = structuredClone(random.pick(STRANGE));
  },
  (value, key) => {
    const each = value[key];
    value[key] = Array.isArray(each) ? [...each, ...each] : [each, each];
  },
  (value, key) => {
    value[key] = HUGE;
  },
  (value, key) => {
    Object.defineProperty(value, "__proto__", { ...OWN, value: value[key] });
  },
  (value, key) => {
    // A list with these fields is not JSON.
    if (!Array.isArray(value)) Object.assign(value, { constructor: value[key], toString: "text" });
  },
  (value) => {
    // The same fields in another order.
    const pairs = Object.entries(value).toReversed();
    for (const [name] of pairs) delete value[name];
    for (const [name, each] of pairs) {
      Object.defineProperty(value, name, { ...OWN, value: each });
    }
  },
  (value, _key, random) => {
    value.timestamp = random.pick(["0", "9999999999", "-1", 1e18, "noon"]);
    value.date = random.pick([0, 99_999_999_999, -1, "noon"]);
  },
  (value, _key, random) => {
    value.response_json = random.pick([
      "{",
      "[]",
      '{"__proto__":{"a":1}}',
      `{"a":${"[".repeat(5_000)}`,
      `{"a":"${HUGE}"}`,
    ]);
    value.item_price = "a lot";
    value.currency = {};
  },
  (value) => {
    let deep: unknown = "end";
    for (let i = 0; i < 2_000; i++) deep = [deep];
    value.deep = deep;
  },
];

/** Makes one to three changes of a payload, anywhere in it. */
export function mutate<Payload extends object>(payload: Payload, random: Random): Payload {
  const copy = structuredClone(payload);
  for (let changes = random.between(1, 3); changes > 0; changes--) {
    let at = copy as Record<string, unknown>;
    for (let depth = random.between(0, 5); depth > 0; depth--) {
      const inner = Object.values(at).filter((each) => each instanceof Object);
      if (inner.length === 0) break;
      at = random.pick(inner) as Record<string, unknown>;
    }
    const keys = Object.keys(at);
    if (keys.length > 0) random.pick(CHANGES)(at, random.pick(keys), random);
  }
  return copy;
}
