import * as z from "zod/mini";
import { unavailable } from "../model/error.ts";
import "../model/field.ts"; // sets the texts of zod's errors
import { SECRET_KEY } from "../model/credential.ts";
import { perIsolate } from "./per-isolate.ts";

/** Treats an empty variable as absent: the `.dev.vars` examples list all variables, empty. */
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

const flag = z.pipe(
  z.string().check(z.regex(/^(true|false)$/, "must be true or false")),
  z.transform((text) => text === "true"),
);

/** `all`, `none`, or a share from 0 to 1. */
const logShare = z.pipe(
  z.string().check(z.regex(/^(all|none|0|1|0?\.\d{1,6})$/, "must be all, none, or a share such as 0.01")),
  z.transform((text) => (text === "all" ? 1 : text === "none" ? 0 : Number(text))),
);

/** A team's domain, with or without `https://`. */
const teamDomain = z.pipe(
  z
    .string()
    .check(
      z.regex(/^(https:\/\/)?[a-z0-9-]+(\.[a-z0-9-]+)+\/?$/, "must be a domain such as team.cloudflareaccess.com"),
    ),
  z.transform((text) => text.replace("https://", "").replace("/", "")),
);

/** A host name. Any text is one: a wrong name hides the console, and must not stop the API. */
const hostName = z.pipe(
  z.string(),
  z.transform((text) => text.toLowerCase().replace(/^https?:\/\/|\/$/g, "")),
);

/** Emails in lower case, separated by commas. */
const emails = z.pipe(
  z.transform((text) =>
    String(text)
      .toLowerCase()
      .split(",")
      .map((email) => email.trim()),
  ),
  z.array(z.email("must be emails, separated by commas")),
);

/**
 * The variables of the environment, except the networks' addresses, which the adapters define. Each is validated by
 * itself, so an invalid one only affects the routes that need it.
 */
const variables = {
  ADMIN_TOKEN: unlessEmpty(z.string()),
  /** Opens `GET /admin/v1/metrics` alone. */
  METRICS_TOKEN: unlessEmpty(z.optional(z.string())),
  KEY_SECRET: unlessEmpty(secretKey),
  KEY_SECRET_PREVIOUS: unlessEmpty(z.optional(secretKey)),
  CREDENTIALS_KEY: unlessEmpty(secretKey),
  CREDENTIALS_KEY_PREVIOUS: unlessEmpty(z.optional(secretKey)),
  LOG_REQUESTS: unlessEmpty(z._default(logShare, 0.01)),
  RATE_LIMIT: unlessEmpty(z._default(positiveInteger(3_600_000), 300)),
  RATE_LIMIT_WINDOW_SECONDS: unlessEmpty(z._default(positiveInteger(3_600), 60)),
  /** With both, Cloudflare Access signs people in to the console. */
  ACCESS_TEAM_DOMAIN: unlessEmpty(z.optional(teamDomain)),
  ACCESS_AUD: unlessEmpty(z.optional(z.string())),
  /** The people of Cloudflare Access who are operators. */
  CONSOLE_OPERATORS: unlessEmpty(z._default(emails, [])),
  /** The host that serves the console alone. */
  CONSOLE_HOST: unlessEmpty(z.optional(hostName)),
  /** With `CONSOLE_HOST`, the host of everything else: the console shows addresses that others call. */
  PUBLIC_HOST: unlessEmpty(z.optional(hostName)),
  /** Only for a local server: webhooks can call the same machine, also over plain HTTP. */
  WEBHOOKS_ALLOW_LOCAL: unlessEmpty(z._default(flag, false)),
};

export type Variable = keyof typeof variables;

export const VARIABLES = Object.keys(variables) as Variable[];

type Value<V extends Variable> = z.output<(typeof variables)[V]>;
type Parsed = { [V in Variable]?: { value: Value<V> } | { problem: string } };

const parsed = perIsolate((): Parsed => ({}));

/**
 * The value of a variable, parsed at its first use.
 * @throws ApiError `unavailable` if it is missing or malformed; the cause, which is logged, names the variable
 */
export function configured<V extends Variable>(env: Env, name: V): Value<V> {
  const known = parsed(env);
  const result = (known[name] ??= parse(env, name)) as NonNullable<Parsed[V]>;
  if ("value" in result) return result.value;
  throw unavailable(`configuration: ${name} ${result.problem}`);
}

/** A variable with the address of a network's API. */
export type AddressVariable = Extract<keyof Env, `${string}_API_BASE`>;

/**
 * The address in a variable, or the default address if the variable is empty.
 * @throws ApiError `unavailable` if the variable is malformed
 */
export function baseAddress(env: Env, name: AddressVariable, defaultAddress: string): string {
  const address = env[name] || defaultAddress;
  const protocol = URL.parse(address)?.protocol;
  if (protocol === "http:" || protocol === "https:") return address;
  throw unavailable(`configuration: ${name} must be an http(s) address`);
}

function parse<V extends Variable>(env: Env, name: V): Parsed[V] {
  const result = variables[name].safeParse(env[name]);
  if (result.success) return { value: result.data } as Parsed[V];
  return { problem: result.error.issues.map((issue) => issue.message).join(", ") } as Parsed[V];
}
