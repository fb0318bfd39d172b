import fc from "fast-check";
import { expect } from "vitest";
import type { Answer } from "../../support/harness.ts";
import { saw } from "./hold.ts";
import type { Counts, KeyModel, Request, Rules, Verdict, Window } from "./key-model.ts";

/** The real key, as clients, the operator and the platform meet it. */
export interface RealKey {
  /** All secrets that it ever had. */
  secrets: string[];
  ask(request: Request): Promise<Answer>;
  patch(rules: object): Promise<Answer>;
  rotate(overlapSeconds: number): Promise<Answer>;
  revoke(): Promise<Answer>;
  usage(): Promise<Answer>;
  /** Time passes, and what waits goes on. */
  pass(ms: number): Promise<void>;
  /** The clock is set. */
  setClock(now: number): void;
  now(): number;
  /** Takes the object's memory. */
  lose(how: "evicted" | "crashed"): Promise<unknown>;
  /** Another isolate takes the place of one. */
  loseIsolate(isolate: number): void;
}

type Command = fc.AsyncCommand<KeyModel, RealKey>;

const STATUSES: Record<Verdict, number> = {
  admitted: 200,
  invalid_api_key: 401,
  ip_not_allowed: 403,
  permission_denied: 403,
  rate_limited: 429,
  quota_exceeded: 403,
};

function command(name: string, run: (model: KeyModel, real: RealKey) => Promise<void>): Command {
  return { check: () => true, run, toString: () => name };
}

/** The limits that an answer carries, as all three drafts of them say it. */
function limits(window: Window | null, verdict: Verdict, now: number): Record<string, string | null> {
  const seconds = window && String(Math.max(1, Math.ceil((window.reset - now) / 1_000)));
  return {
    "X-RateLimit-Limit": window && String(window.limit),
    "X-RateLimit-Remaining": window && String(window.remaining),
    "X-RateLimit-Reset": window && String(Math.ceil(window.reset / 1_000)),
    "RateLimit-Policy": window && `"default";q=${window.limit};w=${window.windowSeconds}`,
    RateLimit: window && `"default";r=${window.remaining};t=${seconds}`,
    "Retry-After": verdict === "rate_limited" ? seconds : null,
    "Cache-Control": "no-store",
  };
}

function shown({ status, headers, body }: Answer) {
  const names = Object.keys(limits(null, "admitted", 0));
  return { status, code: body.code, headers: Object.fromEntries(names.map((name) => [name, headers.get(name)])) };
}

const NONE: Counts = { window: 0, month: 0 };

/** What is not admitted has its code; what is, asks for a chat that does not exist, or what the key is. */
function statusOf(verdict: Verdict, { permission }: Request) {
  if (verdict !== "admitted") return { status: STATUSES[verdict], code: verdict };
  return permission === null ? { status: 200, code: undefined } : { status: 404, code: "chat_not_found" };
}

/**
 * What the service counts beside what was admitted: never less than nothing, so no limit is ever exceeded, and never
 * more than what it may hold ahead and what was lost.
 */
async function aheadNow(model: KeyModel, real: RealKey): Promise<Counts> {
  const { body, text, status } = await real.usage();
  expect(status, text).toBe(200);
  const { limit } = model.rules.rateLimit;
  const window = Math.max(limit - body.usage.window.remaining, model.used().window);
  const ahead = model.aheadOf({ window, month: body.usage.used });
  const most = model.mostAhead();
  for (const count of ["window", "month"] as const) {
    expect(ahead[count], `ahead in the ${count}: ${text}`).toBeGreaterThanOrEqual(0);
    expect(ahead[count], `ahead in the ${count}: ${text}`).toBeLessThanOrEqual(most[count]);
  }
  expect(body.usage).toEqual({ ...model.usage(ahead), window: { ...model.usage(ahead).window, limit } });
  return ahead;
}

/**
 * Holds an answer against the model. Units that the service counts ahead may be given back with the request, or may be
 * those that admit it: then it gets what it would get without them.
 */
function judge(answer: Answer, request: Request, model: KeyModel, ahead: Counts): void {
  const strict = model.ask(request, ahead);
  const loose = model.ask(request, NONE);
  const { status, code, headers } = shown(answer);
  const isOf = ({ verdict }: { verdict: Verdict }) => {
    const expected = statusOf(verdict, request);
    return expected.status === status && expected.code === code;
  };
  const told = [strict, loose].find(isOf);
  if (!told) throw new Error(`${answer.text}: ${status} ${code}, not ${strict.verdict} or ${loose.verdict}`);
  const remaining = Number(headers["X-RateLimit-Remaining"] ?? 0);
  const window = told.window && { ...told.window, remaining };
  if (told.window) {
    const own = told.verdict === "admitted" ? 1 : 0;
    expect(remaining, answer.text).toBeGreaterThanOrEqual(leftBefore(strict) - own);
    expect(remaining, answer.text).toBeLessThanOrEqual(leftBefore(loose) - own + model.unheardOf(request));
  }
  expect(headers, answer.text).toEqual(limits(window, told.verdict, model.now));
  saw(told.verdict);
  if (told.verdict === "admitted") model.admit(request);
  else model.refuse(request, told);
}

/** How many requests the window had left before this one. */
function leftBefore({ verdict, window }: Pick<ReturnType<KeyModel["ask"]>, "verdict" | "window">): number {
  return (window?.remaining ?? 0) + (verdict === "admitted" ? 1 : 0);
}

type Asked = Omit<Request, "secret"> & { nth: number };

/** The newest secret has the number 0. */
function requestOf({ nth, ...rest }: Asked, { secrets }: RealKey): Request {
  return { ...rest, secret: secrets.at(-1 - (nth % secrets.length)) ?? "" };
}

function ask(asked: Asked): Command {
  return command(`ask ${JSON.stringify(asked)}`, async (model, real) => {
    const request = requestOf(asked, real);
    const ahead = await aheadNow(model, real);
    if (ahead.window > 0) saw("units ahead");
    judge(await real.ask(request), request, model, ahead);
    await aheadNow(model, real);
  });
}

/** Many at once; which of them gets which unit is nobody's business. */
function askAtOnce(count: number, asked: Asked): Command {
  return command(`${count} times at once ask ${JSON.stringify(asked)}`, async (model, real) => {
    const request = requestOf(asked, real);
    await aheadNow(model, real);
    const answers = await Promise.all(Array.from({ length: count }, () => real.ask(request)));
    const left = ({ headers, status }: Answer) =>
      (status < 401 || status === 404 ? 1e9 : 0) + Number(headers.get("X-RateLimit-Remaining"));
    answers.sort((one, other) => left(other) - left(one));
    for (const answer of answers) judge(answer, request, model, model.mostAhead());
    await aheadNow(model, real);
  });
}

function patch(change: (now: number) => Partial<Rules>, name: string): Command {
  return command(`patch ${name}`, async (model, real) => {
    const rules = change(model.now);
    const { expiresAt } = rules;
    const body = { ...rules, ...(expiresAt && { expiresAt: new Date(expiresAt).toISOString() }) };
    const answer = await real.patch(body);
    model.now = real.now();
    expect([answer.status, answer.body.key], answer.text).toEqual([200, expect.objectContaining(body)]);
    Object.assign(model.rules, rules);
  });
}

function rotate(overlapSeconds: number): Command {
  return command(`rotate over ${overlapSeconds} s`, async (model, real) => {
    const answer = await real.rotate(overlapSeconds);
    model.now = real.now();
    if (model.isRevoked || model.isExpired()) {
      expect([answer.status, answer.body.code], answer.text).toEqual([409, "key_revoked"]);
      return;
    }
    expect(answer.status, answer.text).toBe(201);
    real.secrets.push(answer.body.secret);
    model.rotate(answer.body.secret, overlapSeconds);
  });
}

function revoke(): Command {
  return command("revoke", async (model, real) => {
    const answer = await real.revoke();
    model.now = real.now();
    expect(answer.status, answer.text).toBe(200);
    model.isRevoked = true;
  });
}

export function usage(): Command {
  return command("usage", async (model, real) => {
    await aheadNow(model, real);
  });
}

function pass(ms: number): Command {
  return command(`${ms} ms pass`, async (model, real) => {
    await real.pass(ms);
    model.now = real.now();
  });
}

/** What isolates hold when the clock jumps may be lost. */
function setClock(name: string, to: (now: number) => number): Command {
  return command(name, async (model, real) => {
    const ahead = await aheadNow(model, real);
    model.lose(ahead);
    model.now = to(model.now);
    real.setClock(model.now);
  });
}

/** What was ahead is lost: what lasts is never less than what was admitted, and at most a block more. */
function lose(how: "evicted" | "crashed"): Command {
  return command(`the object is ${how}`, async (model, real) => {
    await real.lose(how);
    const ahead = await aheadNow(model, real);
    if (ahead.window > model.lost.window) saw("a loss that costs");
    model.lose(ahead);
  });
}

function loseIsolate(isolate: number): Command {
  return command(`isolate ${isolate} is lost`, async (model, real) => {
    real.loseIsolate(isolate);
    model.forget(isolate);
  });
}

/**
 * A refusal that an isolate remembers, the clock set back to before it, and meanwhile other rules: what the object would
 * say is what counts. While the rules stay, nobody can tell the two apart.
 */
function setBackAfterRefusal(asked: Asked, limit: number): Command {
  const narrow = { rateLimit: { limit: 1, windowSeconds: 600 } };
  const other = { rateLimit: { limit, windowSeconds: 10 } };
  const parts = [
    patch(() => narrow, JSON.stringify(narrow)),
    ask(asked),
    ask(asked),
    jump(-300_000),
    patch(() => other, JSON.stringify(other)),
    ask(asked),
  ];
  return command(parts.join("; "), async (model, real) => {
    for (const part of parts) await part.run(model, real);
  });
}

function jump(ms: number): Command {
  return setClock(`the clock jumps ${ms} ms`, (now) => now + ms);
}

/** 100 ms before the month ends. */
function endOfMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) - 100;
}

const HOME = "192.0.2.1";
const ALL = ["chats:read", "chats:write", "messages:read", "messages:send"];

const asked = fc.record({
  isolate: fc.nat(1),
  address: fc.constantFrom(HOME, HOME, "198.51.100.1", null),
  permission: fc.constantFrom(null, "messages:read"),
  nth: fc.constantFrom(0, 0, 0, 1, 2),
});
const asks = asked.map(ask);
const windowSeconds = fc.constantFrom(1, 10, 600);
const rateLimit = fc.record({ limit: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(200)), windowSeconds });
const quota = fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 30 }), fc.integer({ min: 300, max: 400 }));
const change = fc.oneof(
  rateLimit.map((rateLimit) => ({ rateLimit })),
  quota.map((monthlyQuota) => ({ monthlyQuota })),
  fc.constantFrom<string[]>(ALL, ALL, [], ["chats:read"]).map((permissions) => ({ permissions })),
  fc.constantFrom<string[]>([], [HOME], ["203.0.113.9"]).map((ipAllowlist) => ({ ipAllowlist })),
);
const expiry = fc.constantFrom(null, null, 5_000, 3_600_000, -1);

export const rules: fc.Arbitrary<Rules> = fc.record({
  permissions: fc.constant(ALL),
  ipAllowlist: fc.constant([]),
  rateLimit,
  monthlyQuota: quota,
  expiresAt: fc.constant(null),
});

/** Each as often as it stands here. */
export const COMMANDS = [
  asks,
  asks,
  asks,
  asks,
  fc.tuple(fc.integer({ min: 2, max: 25 }), asked).map((all) => askAtOnce(...all)),
  fc.tuple(fc.integer({ min: 2, max: 25 }), asked).map((all) => askAtOnce(...all)),
  change.map((rules) => patch(() => rules, JSON.stringify(rules))),
  change.map((rules) => patch(() => rules, JSON.stringify(rules))),
  expiry.map((ms) => patch((now) => ({ expiresAt: ms === null ? null : now + ms }), `expires in ${ms} ms`)),
  fc.constantFrom(0, 5, 3_600).map(rotate),
  fc.constantFrom(...Array.from({ length: 12 }, usage), revoke()),
  fc.constantFrom(1, 300, 999, 1_000, 5_000, 60_000).map(pass),
  fc.constantFrom(1, 300, 999, 1_000, 5_000, 60_000).map(pass),
  fc.constantFrom(-300_000, 86_400_000).map(jump),
  fc.tuple(asked, fc.constantFrom(1, 12)).map((all) => setBackAfterRefusal(...all)),
  fc.constant(setClock("the month ends in 100 ms", endOfMonth)),
  fc.constantFrom("evicted", "crashed" as const).map(lose),
  fc.nat(1).map(loseIsolate),
];
