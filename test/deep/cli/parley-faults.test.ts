import { expect, test } from "vitest";
import { FROM_DEMO } from "../../../src/cli/parley/connection.ts";
import { Service } from "../../../src/cli/parley/service.ts";
import { ADMIN_TOKEN, fakeService } from "../../cli/fake-service.ts";
import { API_KEY, newHome, run } from "./command.ts";

test("a 404 says when the key is that of the demo, because the command names no organization", async () => {
  const { url } = await fakeService({ error: "Chat not found", code: "chat_not_found" }, 404);
  const apiKey = (from: string) => ({ value: API_KEY, from });
  const own = { root: null, url, urlFrom: "PARLEY_URL", isHere: true, adminToken: null };
  const hint = "The API key is that of the demo organization. For another one, set PARLEY_API_KEY.";
  const ask = (from: string) => new Service({ ...own, apiKey: apiKey(from) }).asClient("GET", "/chats/cht_g1");
  await expect(ask(FROM_DEMO)).rejects.toThrow(hint);
  await expect(ask("PARLEY_API_KEY")).rejects.toThrow(/^Chat not found \(chat_not_found\)\.$/);
});

test("a refused credential is named by the variable that holds it", async () => {
  const errors = [{ path: "credentials.botToken", message: "must be a bot token" }];
  const { url } = await fakeService({ message: "Validation failed", code: "validation_failed", errors }, 400);
  const argv = ["channels", "create", "--kind", "telegram", "--name", "Bot", "--organization", "org_g1"];
  const env = { PARLEY_URL: url, PARLEY_ADMIN_TOKEN: ADMIN_TOKEN, PARLEY_BOT_TOKEN: "12:abc" };
  const { stderr } = await run(argv, { ...env, XDG_CONFIG_HOME: await newHome() });
  expect(stderr).toContain("\n  PARLEY_BOT_TOKEN: must be a bot token\n");
});

test("parley audit shows how many requests an entry stands for", async () => {
  const actor = { type: "key", id: "key_g1", name: "Bot" };
  const entry = { id: "aud_1", at: "2026-11-20T10:00:00.000Z", actor, action: "chat.search", target: null };
  const entries = [{ ...entry, status: 200, requestId: "r", changed: [], count: 37 }];
  const { url } = await fakeService({ entries, pagination: { limit: 20, hasMore: false, cursor: null } });
  const { stdout } = await run(["audit"], {
    PARLEY_URL: url,
    PARLEY_API_KEY: API_KEY,
    XDG_CONFIG_HOME: await newHome(),
  });
  expect(stdout).toMatch(/^WHEN +ACTOR +ACTOR'S ID +ACTION .*COUNT/);
  expect(stdout).toMatch(/chat\.search .* 37 /);
});

test.each([
  ["--before", []],
  ["--before", ["--assignee", "none"]],
  ["--after", ["--scheduled"]],
  ["--after", ["--assignee", "none", "--unanswered"]],
  ["--after", ["--search", "ada"]],
])("parley chats list says once that its cursor continues with %s: %j", async (option, filters) => {
  const { url } = await fakeService({ chats: [], pagination: { limit: 20, hasMore: true, cursor: "WyJv" } });
  const env = { PARLEY_URL: url, PARLEY_API_KEY: API_KEY, XDG_CONFIG_HOME: await newHome() };
  const { stderr } = await run(["chats", "list", ...filters], env);
  expect(stderr.match(/--(before|after) .*/g)).toEqual([`${option} WyJv`]);
});

test.each([[], ["--json"]])(
  "a warning of the service goes to stderr, safe to print, and the command is done %j",
  async (...options) => {
    const message = { id: "msg_g1", status: "QUEUED" };
    const { url } = await fakeService(
      { message, warnings: ["sheduledAt is not a field", "a\u001b[2Jb is not a field"] },
      201,
    );
    const env = { PARLEY_URL: url, XDG_CONFIG_HOME: await newHome() };
    const { code, stdout, stderr } = await run(["send", "cht_g1", "Hello", ...options], env);
    expect(code).toBe(0);
    expect(stderr.split("\n")).toEqual([
      "Warning: sheduledAt is not a field",
      "Warning: a\u00b7[2Jb is not a field",
      "",
    ]);
    expect(stdout.includes("sheduledAt")).toBe(options.length > 0);
  },
);

test("a warning is no part of a record that is created", async () => {
  const { url } = await fakeService({ channel: { id: "chn_g1" }, warnings: ["color is not a field"] }, 201);
  const env = { PARLEY_URL: url, PARLEY_ADMIN_TOKEN: ADMIN_TOKEN, XDG_CONFIG_HOME: await newHome() };
  const argv = ["channels", "create", "--kind", "web", "--name", "Site", "--organization", "org_g1"];
  const { stdout, stderr } = await run(argv, env);
  expect([stdout, stderr]).toEqual(["id  chn_g1\n", expect.stringMatching(/^Warning: color is not a field$/m)]);
});
