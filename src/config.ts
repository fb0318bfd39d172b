import type { MiddlewareHandler } from "hono";
import * as z from "zod/mini";
import { unavailable } from "./http/errors.ts";
import "./http/fields.ts"; // the words of the faults below
import { SECRET_KEY } from "./secret-form.ts";

/** An empty variable is an absent one: `.dev.vars.example` lists them all, empty. */
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

const baseAddress = (fallback: string) =>
  z._default(
    z
      .string()
      .check(z.refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), "must be an http(s) address")),
    fallback,
  );

/** Everything that the environment can set, each checked by itself, so that a fault in one stops only what needs it. */
const variables = {
  ADMIN_TOKEN: unlessEmpty(z.string()),
  KEY_SECRET: unlessEmpty(secretKey),
  KEY_SECRET_PREVIOUS: unlessEmpty(z.optional(secretKey)),
  CREDENTIALS_KEY: unlessEmpty(secretKey),
  CREDENTIALS_KEY_PREVIOUS: unlessEmpty(z.optional(secretKey)),
  TELEGRAM_API_BASE: unlessEmpty(baseAddress("https://api.telegram.org")),
  WHATSAPP_API_BASE: unlessEmpty(baseAddress("https://graph.facebook.com")),
  RATE_LIMIT: unlessEmpty(z._default(positiveInteger(3_600_000), 300)),
  RATE_LIMIT_WINDOW_SECONDS: unlessEmpty(z._default(positiveInteger(3_600), 60)),
};

type Variable = keyof typeof variables;

/** The names of all variables. */
export const VARIABLES = Object.keys(variables) as Variable[];

type Value<V extends Variable> = z.output<(typeof variables)[V]>;
type Parsed = { [V in Variable]?: { value: Value<V> } | { problem: string } };

const parsed = new WeakMap<Env, Parsed>();

/**
 * The value of one variable, parsed at its first use.
 * @throws ApiError `unavailable` when it is missing or malformed; its cause, which the log shows, names the variable
 */
export function configured<V extends Variable>(env: Env, name: V): Value<V> {
  let known = parsed.get(env);
  if (!known) parsed.set(env, (known = {}));
  const result = (known[name] ??= parse(env, name));
  if (result && "value" in result) return result.value;
  throw unavailable(`configuration: ${name} ${result?.problem}`);
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
