import { expect, test } from "vitest";
import { errorLines, workerLines } from "../../src/cli/local/wrangler-log.ts";

function passedOn(text: string): string[] {
  const written: string[] = [];
  const take = workerLines((line) => written.push(line));
  for (const line of text.split("\n")) take(line);
  take(null);
  return written;
}

test("wrangler's table, its own request lines and empty lines are dropped", () => {
  expect(
    passedOn(`Using secrets defined in .dev.vars
Your Worker has access to the following bindings:
Binding                                            Resource                  Mode
env.KEYS (KeyObject)                               Durable Object            local
env.RATE_LIMIT ("300")                             Environment Variable      local

⎔ Starting local server...
[wrangler:info] Ready on http://localhost:8787
[wrangler:info] GET /healthz 200 OK (22ms)`),
  ).toEqual([]);
});

test("wrangler's advice to run the cron trigger by hand is dropped", () => {
  const written: string[] = [];
  const take = errorLines((line) => written.push(line));
  const text = `\u001b[33m▲ \u001b[43;33m[\u001b[43;30mWARNING\u001b[43;33m]\u001b[0m \u001b[1mScheduled Workers are not automatically triggered during local development.\u001b[0m

  To manually trigger a scheduled event, run:
    curl "http://127.0.0.1:8997/cdn-cgi/local/scheduled"
  For more details, see \u001b[4mhttps://developers.cloudflare.com/workers/configuration/cron-triggers/#test-cron-triggers-locally\u001b[0m
▲ [WARNING] another one`;
  for (const line of text.split("\n")) take(line);
  expect(written).toEqual(["▲ [WARNING] another one"]);
});

test("warnings, reloads and the Worker's log lines are kept", () => {
  const text = "[wrangler:warn] a warning\n⎔ Reloading local server...\nhello\n  at f (index.ts:1:2)";
  expect(passedOn(text)).toEqual(text.split("\n"));
});

test("an object on several lines is joined to one line", () => {
  expect(passedOn("{\n  event: 'request',\n  nested: {\n    ms: 1\n  },\n  status: 200\n}\nnext")).toEqual([
    "{ event: 'request', nested: { ms: 1 }, status: 200 }",
    "next",
  ]);
});

test("an unclosed brace hides no line", () => {
  const many = ["{", ...Array.from({ length: 120 }, (_, n) => `line ${n}`)];
  expect(passedOn(many.join("\n"))).toEqual(many);
  expect(passedOn("{\n  cut: 'off'")).toEqual(["{", "  cut: 'off'"]);
});

test("of wrangler's errors, only the end of a visitor's socket is dropped", () => {
  const written: string[] = [];
  const take = errorLines((line) => written.push(line));
  const lost = "✘ [ERROR] Uncaught Error: Network connection lost. ";
  const others = ["✘ [ERROR] Uncaught Error: another", "✘ [ERROR] {", "  error: 'Network connection lost.'", "}"];
  const colored = `\u001b[31m✘ \u001b[41;31m[\u001b[41;97mERROR\u001b[41;31m]\u001b[0m \u001b[1m${lost.slice(10)}\u001b[0m`;
  for (const line of [lost, "", colored, "\u001b[0m", ...others]) take(line);
  expect(written).toEqual(others);
});

test("a host that can't be reached is one line, without the runtime's stack", () => {
  const written: string[] = [];
  const take = errorLines((line) => written.push(line));
  const reason = "failed to lookup address information: Name or service not known";
  take(
    `\u001b[31m✘ \u001b[41;31m[\u001b[41;97mERROR\u001b[41;31m]\u001b[0m \u001b[1me = rust/worker/ffi.rs:110: failed: ${reason}\u001b[0m`,
  );
  take(
    "  stack: /app/node_modules/@cloudflare/workerd-linux-64/bin/workerd@34dcea9; sentryErrorContext = jsgInternalError",
  );
  take("  at f (index.ts:1:2)");
  expect(written).toEqual([`A call to another host failed: ${reason}`, "  at f (index.ts:1:2)"]);
});
