import { Hono } from "hono";
import { expect, test } from "vitest";
import { errorResponse } from "../../../src/http/error-response.ts";
import { needs } from "../../../src/http/needs.ts";
import { ApiError } from "../../../src/model/error.ts";
import { baseAddress, configured, VARIABLES } from "../../../src/platform/config.ts";

const KEY = btoa(String.fromCharCode(...Array.from({ length: 32 }, (_, i) => i + 200)));

/** An environment with only these variables. */
function environment(variables: Record<string, string>): Env {
  return variables as unknown as Env;
}

/** The log's text about an unusable variable. */
function problem(name: (typeof VARIABLES)[number], value?: string): unknown {
  try {
    return configured(environment(value === undefined ? {} : { [name]: value }), name);
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).code).toBe("unavailable");
    return (error as ApiError).cause;
  }
}

test("the variables are those that a deployment sets", () => {
  expect(VARIABLES).toEqual([
    "ADMIN_TOKEN",
    "METRICS_TOKEN",
    "KEY_SECRET",
    "KEY_SECRET_PREVIOUS",
    "CREDENTIALS_KEY",
    "CREDENTIALS_KEY_PREVIOUS",
    "LOG_REQUESTS",
    "RATE_LIMIT",
    "RATE_LIMIT_WINDOW_SECONDS",
    "ACCESS_TEAM_DOMAIN",
    "ACCESS_AUD",
    "CONSOLE_OPERATORS",
    "CONSOLE_HOST",
    "PUBLIC_HOST",
    "WEBHOOKS_ALLOW_LOCAL",
  ]);
});

test("a key has 32 bytes", () => {
  const key = configured(environment({ KEY_SECRET: KEY }), "KEY_SECRET");
  expect([...(key ?? [])]).toEqual(Array.from({ length: 32 }, (_, i) => (i + 200) % 256));
});

test.each(["KEY_SECRET", "CREDENTIALS_KEY", "ADMIN_TOKEN"] as const)("%s must be set and not empty", (name) => {
  expect(problem(name)).toBe(`configuration: ${name} is required`);
  expect(problem(name, "")).toBe(`configuration: ${name} is required`);
});

test.each(["KEY_SECRET_PREVIOUS", "CREDENTIALS_KEY_PREVIOUS"] as const)("%s can be absent or empty", (name) => {
  expect([problem(name), problem(name, "")]).toEqual([undefined, undefined]);
});

test.each([`${KEY} `, ` ${KEY}`, KEY.slice(1), `A${KEY}`, KEY.replace("=", ""), "x".repeat(44)])(
  "%j is not a key of 32 bytes",
  (text) => {
    for (const name of ["KEY_SECRET", "KEY_SECRET_PREVIOUS", "CREDENTIALS_KEY", "CREDENTIALS_KEY_PREVIOUS"] as const) {
      expect(problem(name, text)).toBe(`configuration: ${name} must be 32 bytes in base64`);
    }
  },
);

test.each([
  [undefined, 0.01],
  ["", 0.01],
  ["all", 1],
  ["none", 0],
  ["0", 0],
  ["1", 1],
  ["0.25", 0.25],
  [".5", 0.5],
  ...["2", "1%", "x1", "0.1234567"].map(
    (text) => [text, "configuration: LOG_REQUESTS must be all, none, or a share such as 0.01"] as const,
  ),
] as const)("LOG_REQUESTS %j is %j", (text, share) => {
  expect(problem("LOG_REQUESTS", text)).toBe(share);
});

test.each([
  [undefined, undefined],
  ["", undefined],
  ["console.example", "console.example"],
  ["https://Console.example/", "console.example"],
  ["http://console.example", "console.example"],
  ["console.example/https://a/b", "console.example/https://a/b"],
] as const)("CONSOLE_HOST %j is %j", (text, host) => {
  expect(problem("CONSOLE_HOST", text)).toBe(host);
});

const NO_DOMAIN = "configuration: ACCESS_TEAM_DOMAIN must be a domain such as team.cloudflareaccess.com";

test.each([
  [undefined, undefined],
  ["", undefined],
  ["team.cloudflareaccess.com", "team.cloudflareaccess.com"],
  ["https://team.cloudflareaccess.com", "team.cloudflareaccess.com"],
  ["https://team.cloudflareaccess.com/", "team.cloudflareaccess.com"],
  ["http://team.cloudflareaccess.com", NO_DOMAIN],
  ["team.cloudflareaccess.com/path", NO_DOMAIN],
  ["team.cloudflareaccess.com@evil.test", NO_DOMAIN],
  ["team", NO_DOMAIN],
] as const)("ACCESS_TEAM_DOMAIN %j is %j", (text, domain) => {
  expect(problem("ACCESS_TEAM_DOMAIN", text)).toBe(domain);
});

test.each([
  [undefined, []],
  ["", []],
  ["ann@acme.test", ["ann@acme.test"]],
  ["Ann@Acme.test, bob@acme.test", ["ann@acme.test", "bob@acme.test"]],
  ["ann", "configuration: CONSOLE_OPERATORS must be emails, separated by commas"],
  ["ann@acme.test,", "configuration: CONSOLE_OPERATORS must be emails, separated by commas"],
] as const)("CONSOLE_OPERATORS %j is %j", (text, emails) => {
  expect(problem("CONSOLE_OPERATORS", text)).toEqual(emails);
});

test.each([
  [undefined, false],
  ["", false],
  ["true", true],
  ["false", false],
  ...["1", "TRUE", "xtrue", "truex"].map(
    (text) => [text, "configuration: WEBHOOKS_ALLOW_LOCAL must be true or false"] as const,
  ),
] as const)("WEBHOOKS_ALLOW_LOCAL %j is %j", (text, isAllowed) => {
  expect(problem("WEBHOOKS_ALLOW_LOCAL", text)).toBe(isAllowed);
});

test.each([
  ["RATE_LIMIT", 300, 3_600_000],
  ["RATE_LIMIT_WINDOW_SECONDS", 60, 3_600],
] as const)("%s is %d by default, and from 1 to %d", (name, usual, most) => {
  expect([problem(name), problem(name, ""), problem(name, "1"), problem(name, `${most}`)]).toEqual([
    usual,
    usual,
    1,
    most,
  ]);
  for (const text of ["0", `${most + 1}`]) expect(problem(name, text), text).toMatch(`configuration: ${name} `);
  for (const text of ["1.5", "-1", "a1", "1a", " 1", "0x1", "10000000"]) {
    expect(problem(name, text), text).toBe(`configuration: ${name} must be a whole number`);
  }
});

test("a variable is parsed once for each environment", () => {
  const variables = { RATE_LIMIT: "7" };
  const env = environment(variables);
  expect(configured(env, "RATE_LIMIT")).toBe(7);
  variables.RATE_LIMIT = "8";
  expect(configured(env, "RATE_LIMIT")).toBe(7);
  expect(configured(environment({ RATE_LIMIT: "9" }), "RATE_LIMIT")).toBe(9);
});

test("a network's address is its variable, or the default", () => {
  const at = (address?: string) =>
    baseAddress(
      environment(address === undefined ? {} : { TELEGRAM_API_BASE: address }),
      "TELEGRAM_API_BASE",
      "https://usual.example",
    );
  expect([at(), at(""), at("http://127.0.0.1:9"), at("https://t.example/x")]).toEqual([
    "https://usual.example",
    "https://usual.example",
    "http://127.0.0.1:9",
    "https://t.example/x",
  ]);
});

test.each([
  "nowhere",
  "ftp://t.example",
  "xhttps://t.example",
  "httpsx://t.example",
  "httpx://t.example",
  "//t.example",
])("%j is not an address of a network", (address) => {
  expect(() =>
    baseAddress(environment({ WHATSAPP_API_BASE: address }), "WHATSAPP_API_BASE", "https://usual.example"),
  ).toThrow(
    expect.objectContaining({
      code: "unavailable",
      cause: "configuration: WHATSAPP_API_BASE must be an http(s) address",
    }),
  );
});

test("a route that needs a variable responds with 503 without it", async () => {
  const app = new Hono<{ Bindings: Env }>().get("/", needs("RATE_LIMIT", "ADMIN_TOKEN"), (c) => c.text("asked"));
  app.onError((error) => errorResponse(error as ApiError, { isSecure: false, own: {} }));
  const statusWith = async (variables: Record<string, string>) => {
    const response = await app.request("/", {}, environment(variables));
    return response.status;
  };
  expect(await statusWith({ ADMIN_TOKEN: "t" })).toBe(200);
  expect(await statusWith({})).toBe(503);
  expect(await statusWith({ ADMIN_TOKEN: "t", RATE_LIMIT: "x" })).toBe(503);
});
