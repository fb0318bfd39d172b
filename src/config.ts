import type { MiddlewareHandler } from "hono";
import * as z from "zod/mini";
import { unavailable } from "./http/errors.ts";
import "./http/fields.ts"; // the words of the faults below
import { perIsolate } from "./platform/per-isolate.ts";
import { SECRET_KEY } from "./secrets/key-form.ts";

/** An empty variable is an absent one: the `.dev.vars` examples list them all, empty. */
function unlessEmpty<T extends z.ZodMiniType>(schema: T) {
  return z.pipe(
    z.transform((value) => (value === "" ? undefined : value)),
    schema,
  );
}

const secretKey = z.pipe(
  z.string().check(z.regex(SECRET_KEY.form, `must be ${SECRET_KEY.rule}`)),
  z.transform((text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0))),
);

const positiveInteger = (max: number) =>
  z.pipe(
    z.string().check(z.regex(/^\d{1,7}$/, "must be a whole number")),
    z.pipe(z.transform(Number), z.number().check(z.gte(1), z.lte(max))),
  );

/**
 * Everything that the environment can set, each checked by itself, so that a fault in one stops only what needs it; but
 * for the networks' addresses, which each adapter names itself.
 */
const variables = {
  ADMIN_TOKEN: unlessEmpty(z.string()),
  KEY_SECRET: unlessEmpty(secretKey),
  KEY_SECRET_PREVIOUS: unlessEmpty(z.optional(secretKey)),
  CREDENTIALS_KEY: unlessEmpty(secretKey),
  CREDENTIALS_KEY_PREVIOUS: unlessEmpty(z.optional(secretKey)),
  RATE_LIMIT: unlessEmpty(z._default(positiveInteger(3_600_000), 300)),
  RATE_LIMIT_WINDOW_SECONDS: unlessEmpty(z._default(positiveInteger(3_600), 60)),
};

type Variable = keyof typeof variables;

/** The names of these variables. */
export const VARIABLES = Object.keys(variables) as Variable[];

type Value<V extends Variable> = z.output<(typeof variables)[V]>;
type Parsed = { [V in Variable]?: { value: Value<V> } | { problem: string } };

const parsed = perIsolate((): Parsed => ({}));

/**
 * The value of one variable, parsed at its first use.
 * @throws ApiError `unavailable` when it is missing or malformed; its cause, which the log shows, names the variable
 */
export function configured<V extends Variable>(env: Env, name: V): Value<V> {
  const known = parsed(env);
  const result = (known[name] ??= parse(env, name));
  if (result && "value" in result) return result.value;
  throw unavailable(`configuration: ${name} ${result?.problem}`);
}

/** A variable that says where a network is. */
export type AddressVariable = Extract<keyof Env, `${string}_API_BASE`>;

/**
 * Where something outside is: where the variable says, or where it is usually.
 * @throws ApiError `unavailable` when the variable is malformed, as `configured` does
 */
export function baseAddress(env: Env, name: AddressVariable, usual: string): string {
  const address = env[name] || usual;
  if (/^https?:$/.test(URL.parse(address)?.protocol ?? "")) return address;
  throw unavailable(`configuration: ${name} must be an http(s) address`);
}

/** Answers 503 before anything else, authentication included, while a variable is missing or malformed. */
export function needs(...names: Variable[]): MiddlewareHandler<{ Bindings: Env }> {
  return async function needsConfiguration(c, next) {
    for (const name of names) configured(c.env, name);
    await next();
  };
}

function parse<V extends Variable>(env: Env, name: V): Parsed[V] {
  const result = variables[name].safeParse(env[name]);
  if (result.success) return { value: result.data } as Parsed[V];
  return { problem: result.error.issues.map((issue) => issue.message).join(", ") } as Parsed[V];
}
