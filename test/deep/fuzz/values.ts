import fc from "fast-check";
import { CREDENTIALS } from "../../support/world/factories.ts";

/** What zod's `toJSONSchema` makes of one of our schemas; only the fields that are used here. */
export interface Schema {
  type?: string;
  enum?: string[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
}

const ODD = [
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "\udc00\ud800",
  "\u202e",
  "\ufeff",
  "__proto__",
  "constructor",
  "toString",
  "' or 1=1 --",
  '"); drop table chats; --',
  "%",
  "_%",
  "#{7*7}",
  "{{name}}",
  "{{__proto__}}",
  "{{",
  "../../etc/passwd",
  "javascript:alert(1)",
  "<script>alert(1)</script>",
  "null",
  "undefined",
  "NaN",
  "-1",
  "1e999",
  "0x10",
  "😀".repeat(3_000),
  "a ".repeat(2_500),
  "\r\nX-Injected: 1",
];

/** Numbers as JSON may write them: `withNumbers` puts them into a text, which no JavaScript number could. */
const WRITTEN = ["1e400", "-1e400", "-0", "123456789012345678901234567890", "0.1e-400", "1E+2", "9007199254740993"];
const numbers = fc.constantFrom(0, -1, 1.5, 1e308, 2 ** 53, 2 ** 31, Number.MIN_VALUE);

export const oddText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ODD) },
  { weight: 1, arbitrary: fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 40 }) },
);

const anything: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: oddText },
  { weight: 2, arbitrary: numbers },
  { weight: 2, arbitrary: fc.constantFrom(...WRITTEN).map((number) => `#number:${number}`) },
  { weight: 2, arbitrary: fc.constantFrom("#deep:[", '#deep:{"a":') },
  { weight: 4, arbitrary: fc.constantFrom(null, true, false, [], {}, [[]], [null]) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** Mostly `value`, sometimes anything. */
function mostly<T>(value: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 24, arbitrary: value }, { weight: 1, arbitrary: anything });
}

/** An id of the place: `@chn:3` stands for one of its channels until a request is made. */
export function idOf(prefix: string): fc.Arbitrary<string> {
  return fc.nat(99).map((nth) => `@${prefix}:${nth}`);
}

const LETTERS = ["a", "Z", "0", " ", "ü", "中", "😀", "\u0301", "\u200d", "{{", "}}", '"', "\\", "\n", "<", "&"];
const text = fc.oneof(
  fc.constantFrom("Hello", "Grüße 😀", "a", "Hi {{name}}", "https://files.test/a.png", "x ".repeat(250)),
  fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength: 30 }),
);
const pairs = fc.dictionary(
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("name", "order", "plan", "constructor") },
    { weight: 1, arbitrary: oddText },
  ),
  fc.oneof({ weight: 8, arbitrary: text }, { weight: 1, arbitrary: numbers }, { weight: 1, arbitrary: anything }),
  { maxKeys: 4, noNullPrototype: true },
);

/** The host of the webhooks. Nothing else that the service calls may be chosen by a request. */
export const RECEIVER = "receiver.test";

/** Fields whose values must mean something before what lies behind the schema is reached. */
const NAMED: Record<string, fc.Arbitrary<unknown>> = {
  channelId: idOf("chn"),
  channel: fc.oneof(idOf("chn"), fc.constantFrom("web", "telegram", "whatsapp")),
  organization: idOf("org"),
  senderId: idOf("mbr"),
  templateId: idOf("tpl"),
  before: fc.oneof(idOf("msg"), idOf("cht")),
  after: fc.oneof(idOf("msg"), idOf("cht"), idOf("cur")),
  chat: idOf("cht"),
  channels: fc.array(idOf("chn"), { maxLength: 3 }),
  eventId: idOf("evt"),
  "types string": fc.constantFrom("message.*", "message.status,chat.created", "message.received", ","),
  wait: fc.constantFrom("0", "1", "31"),
  url: fc.oneof(
    fc.nat(50).map((nth) => `https://${RECEIVER}/${nth}`),
    fc.constantFrom(
      "http://receiver.test/",
      "https://169.254.169.254/latest/meta-data",
      "https://2130706433/",
      "https://[::1]/",
      "https://user:pass@receiver.test/",
      "https://receiver.test:8443/",
      "https://localhost/",
    ),
  ),
  address: fc.oneof(
    fc.constantFrom("+49 151 (23) 45-67", "4915112345678", "-1001234567890", "ada"),
    fc.nat(300).map((n) => `contact-${n}`),
    fc.nat(300).map((n) => String(4_915_000_000 + n)),
  ),
  ipAllowlist: fc.array(fc.constantFrom("192.0.2.1", "192.0.2.0/24", "2001:db8::/32", "::/0", "0.0.0.0/0", "1.2.3"), {
    maxLength: 3,
  }),
  mediaUrl: fc.constantFrom(
    "https://files.test/a.png",
    "http://169.254.169.254/latest/meta-data",
    "https://user:pass@files.test/",
    "https://[::1]/",
    "https://files.test/\u202egnp.exe",
  ),
  body: fc.constantFrom("Hi {{name}}", "{{a}}{{b}}{{ a }}", "plain", "{{constructor}} {{toString}}", "{{", "}}"),
  metadata: pairs,
  variables: pairs,
  credentials: fc.constantFrom(CREDENTIALS.telegram, CREDENTIALS.whatsapp, {}, { botToken: "short" }),
  settings: fc.constantFrom(
    {},
    { perSecond: 50 },
    { perSecond: 0 },
    { allowedOrigins: ["https://shop.test"] },
    { allowedOrigins: ["https://shop.test/path", "*"] },
  ),
};

/** Of a number in a query. */
const DIGITS = "^\\d{1,15}$";

/** Values that a schema takes, and some that it does not. */
export function valuesOf(schema: Schema, name = ""): fc.Arbitrary<unknown> {
  const named = NAMED[`${name} ${schema.type}`] ?? NAMED[name];
  if (named) return mostly(named);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((each) => valuesOf(each, name)));
  if (schema.enum) return mostly(fc.constantFrom(...schema.enum));
  switch (schema.type) {
    case "object":
      return mostly(fieldsOf(schema));
    case "array":
      return mostly(fc.array(valuesOf(schema.items ?? {}), { maxLength: 4 }));
    case "string":
      return mostly(stringsOf(schema));
    case "integer":
      return mostly(fc.integer({ min: schema.minimum ?? -10, max: Math.min(schema.maximum ?? 1_000, 100_000) }));
    case "null":
      return fc.constant(null);
    default:
      return anything;
  }
}

/** An object with the fields of a schema: those that it demands nearly always, the others as often as not. */
function fieldsOf({ properties = {}, required = [] }: Schema): fc.Arbitrary<object> {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const value = valuesOf(schema, name).map((given) => [[name, given]] as const);
    const absent = fc.constant([] as const);
    return fc.oneof({ weight: required.includes(name) ? 40 : 1, arbitrary: value }, { weight: 1, arbitrary: absent });
  });
  return fc.tuple(...fields).map((entries) => Object.fromEntries(entries.flat()));
}

function stringsOf({ format, pattern, maxLength = 256 }: Schema): fc.Arbitrary<string> {
  if (format === "email") return fc.constantFrom("ada@acme.test", "a+b@acme.test");
  if (format === "date-time") return fc.constantFrom("2030-01-01T00:00:00Z", "2020-02-29T23:59:59.999+14:00");
  if (pattern === DIGITS) return fc.constantFrom("1", "2", "007", "20", "100", "500", "999999999999999");
  if (pattern) return fc.stringMatching(new RegExp(pattern));
  const edges = [maxLength, maxLength + 1].map((length) => "ü".repeat(length));
  return fc.oneof({ weight: 12, arbitrary: text }, { weight: 1, arbitrary: fc.constantFrom(...edges) });
}
