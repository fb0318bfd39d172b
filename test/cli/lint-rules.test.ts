import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { once } from "../support/once.ts";

const root = new URL("../..", import.meta.url).pathname;

/** Texts by rule: what it hits, and what it lets pass. */
const TEXTS: Record<string, { wrong: string[]; right: string[] }> = {
  "alarm-beside-another": {
    wrong: [
      'import { runDurableObjectAlarm } from "cloudflare:test";',
      'import { runDurableObjectAlarm as run } from "cloudflare:test";',
      'import * as runtime from "cloudflare:test"; await runtime.runDurableObjectAlarm(object);',
      "const at = await runInDurableObject(object, (_object, { storage }) => storage.getAlarm());",
    ],
    right: [
      'import { runInDurableObject } from "cloudflare:test"; await runAlarm(object);',
      "const at = await alarmAt(object);",
      "await runInDurableObject(object, (_object, { storage }) => storage.deleteAlarm());",
    ],
  },
  "word-in-id": {
    wrong: [
      'expect(log).not.toContain("Bob");',
      "expect(log).not.toMatch(/Alexandra|Bob/i);",
      "expect(log).not.toMatch(/hash/);",
      'expect(log).not.toMatch(/"\\w*hash/i);',
      'expect(log).not.toMatch(/Alexandra|Bob"/);',
    ],
    right: [
      'expect(log).not.toContain("Alexandra");',
      'expect(log).toContain("Bob");',
      "expect(log).not.toMatch(/Alexandra|\\bBob\\b/i);",
      'expect(log).not.toMatch(/"\\w*hash\\w*":|"Bob"/);',
    ],
  },
  "end-of-id": {
    wrong: [
      `const path = \`/web/\${channelId.slice(0, -2)}00/media\`;`,
      `const wrong = \`\${first?.id.slice(0, -1)}7\`;`,
      'const wrong = channelId.slice(0, -1) + "0";',
      'const wrong = channelId.replace(/.$/, "0");',
      'const wrong = channelId.replace(/.{3}$/, "000");',
    ],
    right: [
      `const path = \`/web/\${withOtherEnd(channelId)}/media\`;`,
      `const wrong = \`\${secret.slice(0, -1)}_\`;`,
      'const wrong = secret.slice(0, -1) + (secret.endsWith("A") ? "B" : "A");',
      'const wrong = first.id.replace(/1$/, "7");',
      "const wrong = text.replace(/.$/, (last) => (last === '0' ? '1' : '0'));",
      `const short = \`\${text.slice(0, 2)}00\`;`,
      `const forged = \`\${secret.slice(0, -8)}AAAAAAA=\`;`,
    ],
  },
  "late-route": {
    wrong: ["await page.route(/stream/, answer);", "await page.context().route(address, answer, { times: 1 });"],
    right: ["await intercept(page, /stream/, answer);", "const route = routes.at(0);"],
  },
  "moves-the-clock": {
    wrong: [
      "await vi.waitFor(() => expect(calls).toHaveLength(1));",
      "await vi.waitUntil(() => calls.length === 1, { interval: 1 });",
      "await expect.poll(() => calls.length).toBe(1);",
    ],
    right: [
      "await untilLength(calls, 1);",
      "ctx.waitUntil(work);",
      "await page.waitFor(1);",
      "vi.setSystemTime(Date.now() + 50);",
    ],
  },
  "own-patience": {
    wrong: [
      "test('it answers', async () => { await answer(); }, 20_000);",
      "test('it answers', { timeout: 20_000 }, answer);",
      "test.each([1, 2])('%i answers', answer, 90_000);",
      "beforeAll(async () => { await begin(); }, 120_000);",
      "await expect.poll(() => calls.length, { timeout: 20_000 }).toBe(1);",
    ],
    right: [
      "test('it answers', answer);",
      "test('no step is long', { timeout: 600_000 }, measure);",
      "test.for([1, 2])('%i answers', answer);",
      "await expect.poll(() => calls.length, { timeout: 60_000 }).toBe(1);",
      "await fill(chat, 10_000);",
      "const opened = page.waitForEvent('popup', { timeout: 20_000 });",
    ],
  },
  "timed-test": {
    wrong: [
      "expect(performance.now() - start).toBeLessThan(2_000);",
      "expect(performance.now() - begun).toBeLessThanOrEqual(5_000);",
    ],
    right: [
      "expect(performance.now() - start).toBeGreaterThanOrEqual(990);",
      "expect(Date.now() - start).toBeLessThan(60_000);",
      "expect(reads).toBeLessThan(2_000);",
    ],
  },
  "poll-without-end": {
    wrong: [
      "while (calls.length === 0) await scheduler.wait(1);",
      "do { await scheduler.wait(0); } while (!isDone());",
      "for (;;) { if (await look()) break; await scheduler.wait(5); }",
      "for (const chat of chats) { await chat.run(); await scheduler.wait(5); }",
      "const held = async () => { while (isHeld) await scheduler.wait(1); };",
      "while (calls.length < 21) await chat.queue();",
      "while (!isCalled()) { await chat.queue(); }",
      'while ((await healthOf(channelId)).state === "ok");',
      "do {} while (await look());",
    ],
    right: [
      'await until("it is called", () => calls.length);',
      "await scheduler.wait(0);",
      "for (const chat of chats) { chat.later = () => scheduler.wait(1); }",
      "while (isHeld) await other.wait(1);",
      "while (!isDone) await write();",
      "while (!(await link.isVisible())) await more.click();",
      "while (chats.length < 10) chats.push(await newChat());",
    ],
  },
  sleep: {
    wrong: [
      "await new Promise((resolve) => setTimeout(resolve, 100));",
      "await new Promise<void>((resolve) => { setTimeout(() => resolve(), 100); });",
      "await new Promise((resolve) => setTimeout(() => { resolve(null); }, PATIENCE_MS));",
      "await new Promise(function (resolve) { globalThis.setTimeout(resolve, 100); });",
      "const nap = (ms) => new Promise((resolve) => setTimeout(resolve, ms));",
      'import { setTimeout } from "node:timers/promises"; await setTimeout(100);',
      'import { setTimeout as delay } from "timers/promises"; while (!isDone()) await delay(MS);',
      "await scheduler.wait(5);",
      "if (isSlow) await scheduler.wait(ms);",
      "await page.waitForTimeout(500);",
    ],
    right: [
      "await scheduler.wait(0);",
      "await new Promise((resolve) => setTimeout(resolve));",
      "await new Promise((resolve) => setTimeout(resolve, 0));",
      'import { setTimeout } from "node:timers/promises"; await setTimeout(0);',
      "setTimeout(() => abort.abort(), 50);",
      "const slow = () => scheduler.wait(50);",
      "await new Promise((resolve, reject) => { server.once('listening', resolve); setTimeout(reject, 5_000); });",
      "const late = new Promise((resolve) => setTimeout(() => { calls.push(1); resolve(null); }, 5));",
      "await expect.poll(() => page.url()).toBe(url);",
    ],
  },
  "locator-read-once": {
    wrong: [
      "expect(await page.locator('li').count()).toBe(3);",
      "expect(await (await frame()).isVisible(), 'the list').not.toBe(true);",
      "expect(await list.getByRole('link').first().getAttribute('href')).toBe('/');",
    ],
    right: [
      "await expect.poll(() => page.locator('li').count()).toBe(3);",
      "expect(await count()).toBe(3);",
      "expect(await page.evaluate(() => document.title)).toBe('Parley');",
      "const text = await list.textContent();",
    ],
  },
  "awaited-in-turn": {
    wrong: [
      "for (const answer of [read(1), read(2)]) expect((await answer).status).toBe(200);",
      "for (const call of [hook.permit(1), hook.report(1)]) { const error = await call.then(none, (thrown) => thrown); }",
    ],
    right: [
      "for (const answer of await Promise.all([read(1), read(2)])) expect(answer.status).toBe(200);",
      "for (const read of [() => list(1), () => list(2)]) expect((await read()).status).toBe(200);",
      "for (const answer of [await read(1), await read(2)]) expect(await answer.text()).toBe('');",
      "for (const chat of [chatOf(1), chatOf(2)]) expect(await chat.read()).toEqual([]);",
    ],
  },
  "look-after-act": {
    wrong: [
      "void chat.run(); expect(calls).toHaveLength(1);",
      "socket.send('typing'); expect(frames).toEqual([]);",
      "test('it ends', () => { server.closeAllConnections(); expect(lost, 'lost').not.toBe(0); });",
      "if (isLate) { request.abort(); expect(errors()).toEqual(['aborted']); }",
    ],
    right: [
      "await page.getByRole('button').click(); expect(calls).toHaveLength(1);",
      "void chat.run(); await expect.poll(() => calls.length).toBe(1);",
      "void chat.run(); await expect(late).rejects.toThrow();",
      "socket.send('typing'); expect((await stream.next())?.event).toBe('typing');",
      "child.kill('SIGTERM'); expect(await once(child, 'exit')).toEqual([0, null]);",
      "await vi.waitFor(() => { void ring(); expect(calls).toHaveLength(1); });",
      "void chat.run(); await reached(); expect(calls).toHaveLength(1);",
      "list.push('a'); expect(list).toEqual(['a']);",
    ],
  },
};

/** Where the project's own configuration lets a text of a rule pass, and where it doesn't. */
const PLACES: [rule: string, path: string, hits: boolean][] = [
  ["alarm-beside-another", "test/service/chats/send.test.ts", true],
  ["alarm-beside-another", "test/support/harness.ts", true],
  ["alarm-beside-another", "test/support/alarms.ts", false],
  ["awaited-in-turn", "test/service/chats/send.test.ts", true],
  ["awaited-in-turn", "test/browser/console.ts", true],
  ["end-of-id", "test/service/chats/send.test.ts", true],
  ["late-route", "test/browser/console.ts", true],
  ["late-route", "test/browser/disturb.ts", false],
  ["moves-the-clock", "test/service/chats/send.test.ts", true],
  ["moves-the-clock", "test/deep/models/chat.test.ts", true],
  ["moves-the-clock", "test/browser/console.ts", false],
  ["own-patience", "test/bench/bench.test.ts", true],
  ["poll-without-end", "test/unit/events/stream.test.ts", true],
  ["poll-without-end", "test/support/until.ts", false],
  ["sleep", "test/cli/long.test.ts", true],
  ["sleep", "test/browser/console.ts", true],
  ["sleep", "test/deep/storm/storm.ts", false],
  ["sleep", "src/platform/clock.ts", false],
  ["look-after-act", "test/deep/service/late.test.ts", true],
  ["look-after-act", "test/unit/late.test.ts", false],
];

/** Each planted file's hits, by its path. */
async function lint(config: string, files: Record<string, string>): Promise<Record<string, string[]>> {
  const folder = await mkdtemp(join(tmpdir(), "parley-lint-"));
  try {
    const all = { ...files, ".oxlintrc.json": config };
    for (const [path, text] of Object.entries(all)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const output = await oxlint(folder);
    const { diagnostics } = JSON.parse(output) as { diagnostics: { filename: string; code: string }[] };
    const hits = Object.fromEntries(Object.keys(files).map((path): [string, string[]] => [path, []]));
    for (const { filename, code } of diagnostics) {
      if (code.startsWith("races(")) hits[filename]?.push(code.slice("races(".length, -1));
    }
    return hits;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What it prints. It ends with 1 if there are hits. */
function oxlint(cwd: string): Promise<string> {
  const command = [join(root, "node_modules/oxlint/bin/oxlint"), "--format", "json", "."];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, command, { cwd }, (error, stdout, stderr) => {
      if (stdout.startsWith("{")) resolve(stdout);
      else reject(error ?? new Error(`oxlint printed nothing: ${stderr}`));
    });
  });
}

const plugin = join(root, "test/lint/plugin.ts");

/** One run for all texts: most of its time is its start. */
const hitsOfTexts = once(() => {
  const overrides = Object.keys(TEXTS).map((rule) => ({
    files: [`${rule}/**`],
    rules: { [`races/${rule}`]: "error" },
  }));
  const files = Object.entries(TEXTS).flatMap(([rule, { wrong, right }]) =>
    [...wrong, ...right].map((text, at) => [`${rule}/${at}.ts`, text] as const),
  );
  return lint(JSON.stringify({ jsPlugins: [plugin], overrides }), Object.fromEntries(files));
});

test.for(Object.entries(TEXTS))("%s hits what it says, and nothing else", async ([rule, { wrong, right }]) => {
  const hits = await hitsOfTexts();
  const found = [...wrong, ...right].map((text, at) => [text, hits[`${rule}/${at}.ts`]]);
  expect(found).toEqual([...wrong.map((text) => [text, [rule]]), ...right.map((text) => [text, []])]);
});

test("the rules are on where tests are, and off where a wait is meant", async () => {
  const config = await readFile(join(root, ".oxlintrc.json"), "utf8");
  const files: Record<string, string> = {};
  const wanted: Record<string, string[]> = {};
  for (const [rule, path, isHit] of PLACES) {
    files[path] = `${files[path] ?? ""}${TEXTS[rule]?.wrong[0]}\n`;
    wanted[path] = [...(wanted[path] ?? []), ...(isHit ? [rule] : [])];
  }
  expect(await lint(config.replace("./test/lint/plugin.ts", plugin), files)).toEqual(wanted);
});
