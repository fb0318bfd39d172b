import fc from "fast-check";
import { expect } from "vitest";
import type { Answer } from "../../support/harness.ts";
import { type ChatModel, type Row, shown, type Told, WEATHERS, type Weather } from "./chat-model.ts";
import { saw } from "./hold.ts";

/** The real chat, as its clients, its network, its operator and the platform meet it. */
export interface RealChat {
  chatId: string;
  ownerId: string;
  /** A request of the organization's client, answered by one of two isolates. */
  ask(isolate: number, method: string, path: string, body?: unknown, key?: string | null): Promise<Answer>;
  receive(networkId: string, content: string): Promise<{ outcome: string; doc?: string }>;
  tell(messageId: string | null, networkId: string, told: Told): Promise<{ outcome: string }>;
  redact(messageId: string): Promise<Answer>;
  queue(): Promise<unknown>;
  /** What the network was called with. */
  wire(): string[];
  setClock(now: number): void;
  setWeather(weather: Weather): void;
  /** When the alarm rings, Unix milliseconds; null for never. */
  alarm(): Promise<number | null>;
  ring(): Promise<void>;
  /** Takes the object's memory; amid a crash, or when it was idle for long. */
  lose(how: "evicted" | "crashed"): Promise<void>;
}

type Command = fc.AsyncCommand<ChatModel, RealChat>;

/** After each step the network was called as the model says. */
function command(name: string, run: (model: ChatModel, real: RealChat) => Promise<void>, check = always): Command {
  return {
    check,
    toString: () => name,
    run: async (model, real) => {
      await run(model, real);
      saw(name.split(" ", 2).join(" "));
      expect(real.wire()).toEqual(model.wire);
    },
  };
}

const always = (_model: Readonly<ChatModel>) => true;
const outbound = (model: Readonly<ChatModel>) => model.rows.filter((row) => row.taken.length > 0);

function doc(row: Row, { chatId, ownerId }: RealChat) {
  return shown(row, chatId, ownerId);
}

function send(isolate: number, content: string, key: string | null): Command {
  return command(`send ${content} key ${key} from ${isolate}`, async (model, real) => {
    const answer = await real.ask(isolate, "POST", "/messages", { content }, key);
    const first = model.used(key && `key ${key}`);
    if (first && !first.isRedacted && first.content !== content) {
      expect([answer.status, answer.body.code], answer.text).toEqual([422, "idempotency_mismatch"]);
      // A refused send does not start the delivery of what waits.
      return;
    }
    const row = first ?? model.add("OUTBOUND", answer.body?.message?.id, content, key && `key ${key}`);
    expect([answer.status, answer.body], answer.text).toEqual([201, { message: doc(row, real) }]);
    expect(answer.headers.get("Idempotent-Replayed")).toBe(first ? "true" : null);
    model.work();
  });
}

function receive(id: string, content: string): Command {
  return command(`receive ${id} ${content}`, async (model, real) => {
    const answer = await real.receive(id, content);
    const first = model.used(`in ${id}`);
    const message = JSON.parse(answer.doc ?? "null");
    const row = first ?? model.add("INBOUND", message?.id, content, `in ${id}`);
    expect([answer.outcome, message]).toEqual([first ? "repeated" : "stored", doc(row, real)]);
  });
}

function tell(nth: number, copy: number, told: Told, isNamed: boolean): Command {
  const chosen = (model: Readonly<ChatModel>) => {
    const rows = outbound(model);
    const row = rows[nth % rows.length] as Row;
    return { row, id: row.taken[copy % row.taken.length] as string };
  };
  return command(
    `tell ${told} of ${nth}, copy ${copy}, ${isNamed ? "with" : "without"} our id`,
    async (model, real) => {
      const { row, id } = chosen(model);
      expect(await real.tell(isNamed ? row.id : null, id, told)).toEqual({ outcome: "ok" });
      model.tell(row, told, id);
      model.work();
    },
    (model) => {
      if (outbound(model).length === 0) return false;
      const { row, id } = chosen(model);
      // What several unheard calls came to, and what is told of no message of ours, takes more than this model.
      return isNamed ? told !== "FAILED" || row.named !== null || row.taken.length === 1 : row.named === id;
    },
  );
}

function tellOfNone(told: Told, isNamed: boolean): Command {
  return command(`tell ${told} of ${isNamed ? "no message" : "another program's"}`, async (model, real) => {
    // It may be of the call that nobody heard of.
    const mayBeOurs = !isNamed && (model.head()?.taken.length ?? 0) > 0;
    const answer = await real.tell(isNamed ? "msg_gaaaaaaaaaaaaaaa" : null, "wamid.foreign", told);
    expect(answer).toEqual({ outcome: mayBeOurs ? "ok" : "no_message" });
    if (mayBeOurs) model.work();
  });
}

export function page(isolate: number, number: number, limit: number): Command {
  return command(`list page ${number} by ${limit} from ${isolate}`, async (model, real) => {
    const answer = await real.ask(isolate, "GET", `/messages?page=${number}&limit=${limit}`);
    const all = model.rows.toReversed();
    const total = all.length;
    const totalPages = Math.ceil(total / limit);
    const pagination = { page: number, limit, total, totalPages, hasMore: number < totalPages };
    expectPage(answer, all.slice((number - 1) * limit, number * limit), pagination, real);
  });
}

function cursor(isolate: number, side: "before" | "after", nth: number, limit: number): Command {
  return command(`list ${side} ${nth} by ${limit} from ${isolate}`, async (model, real) => {
    const { rows } = model;
    const at = rows[nth % (rows.length + 1)];
    const answer = await real.ask(isolate, "GET", `/messages?${side}=${at?.id ?? "msg_none"}&limit=${limit}`);
    if (!at) {
      expect([answer.status, answer.body.errors?.[0]?.path], answer.text).toEqual([400, side]);
      return;
    }
    const all = side === "before" ? rows.slice(0, at.seq - 1) : rows.slice(at.seq);
    const some = side === "before" ? all.slice(-limit) : all.slice(0, limit);
    const pagination = { limit, total: rows.length, hasMore: some.length < all.length };
    expectPage(answer, some.toReversed(), pagination, real);
  });
}

function expectPage(answer: Answer, rows: Row[], pagination: object, real: RealChat): void {
  const messages = rows.map((row) => doc(row, real));
  expect([answer.status, answer.body], answer.text).toEqual([200, { messages, pagination }]);
}

function one(isolate: number, nth: number): Command {
  return command(`get ${nth} from ${isolate}`, async (model, real) => {
    const row = model.rows[nth % (model.rows.length + 1)];
    const answer = await real.ask(isolate, "GET", `/messages/${row?.id ?? "msg_none"}`);
    if (row) expect([answer.status, answer.body], answer.text).toEqual([200, { message: doc(row, real) }]);
    else expect([answer.status, answer.body.code], answer.text).toEqual([404, "message_not_found"]);
  });
}

function redact(nth: number): Command {
  return command(
    `redact ${nth}`,
    async (model, real) => {
      const row = model.rows[nth % model.rows.length] as Row;
      const answer = await real.redact(row.id);
      expect(answer.status, answer.text).toBe(row.isRedacted ? 404 : 200);
      if (row.isRedacted) return;
      model.redact(row);
      expect(answer.body).toEqual({ message: doc(row, real) });
      model.work();
    },
    (model) => model.rows.length > 0,
  );
}

function queue(): Command {
  return command("queue", async (model, real) => {
    const waiting = model.rows.filter((row) => row.status === "QUEUED");
    const [head] = waiting;
    const due = model.dueAt();
    expect(await real.queue()).toEqual({
      depth: waiting.length,
      oldest: head ? new Date(head.createdAt).toISOString() : null,
      nextAttemptAt: due === null ? null : new Date(due).toISOString(),
      lastError: head?.lastError ?? null,
    });
  });
}

/** It stands while something is left to do and no later than that is due, and rings no more once nothing is. */
export function ring(): Command {
  return command("the alarm rings", async (model, real) => {
    const standing = await real.alarm();
    if (model.head()) expect(standing).toBeLessThanOrEqual(model.dueAt() as number);
    if (model.reported < model.rows.length) expect(standing).not.toBeNull();
    if (standing === null) return;
    await real.ring();
    model.reported = model.rows.length;
    // It is part of the report that the same alarm sends.
    model.giveUp();
    model.told = { state: model.state(), calls: model.wire.length };
    model.work();
    expect(await real.alarm()).toBe(model.alarmAt());
  });
}

function pass(ms: number): Command {
  return command(`${ms} ms pass`, async (model, real) => {
    model.now += ms;
    real.setClock(model.now);
  });
}

function turn(weather: Weather): Command {
  return command(`the network ${weather}`, async (model, real) => {
    model.weather = weather;
    real.setWeather(weather);
  });
}

function lose(how: "evicted" | "crashed"): Command {
  return command(`the object is ${how}`, async (model, real) => {
    await real.lose(how);
    // What it had not told of its calls is lost with it.
    model.told.calls = model.wire.length;
  });
}

const isolate = fc.nat(1);
const nth = fc.nat(30);
const limit = fc.integer({ min: 1, max: 8 });
const told = fc.constantFrom("SENT", "DELIVERED", "READ", "FAILED" as const);

const sends = fc.tuple(isolate, fc.constantFrom("one", "two"), fc.constantFrom(null, null, "a", "b"));
const tells = fc.tuple(nth, fc.nat(2), told, fc.boolean()).map((all) => tell(...all));
const pages = fc.tuple(isolate, fc.integer({ min: 1, max: 4 }), limit).map((all) => page(...all));
const cursors = fc.tuple(isolate, fc.constantFrom("before", "after" as const), nth, limit);
const passes = fc.constantFrom(1, 1_000, 2_000, 90_000, 600_000, 86_400_000, -300_000).map(pass);

/** Each as often as it stands here. */
export const COMMANDS = [
  sends.map((all) => send(...all)),
  sends.map((all) => send(...all)),
  sends.map((all) => send(...all)),
  fc.tuple(fc.constantFrom("1", "2", "3"), fc.constantFrom("hi", "ho")).map((all) => receive(...all)),
  tells,
  tells,
  fc.tuple(told, fc.boolean()).map((all) => tellOfNone(...all)),
  pages,
  pages,
  cursors.map((all) => cursor(...all)),
  cursors.map((all) => cursor(...all)),
  fc.tuple(isolate, nth).map((all) => one(...all)),
  nth.map(redact),
  fc.constant(queue()),
  fc.constant(ring()),
  passes,
  passes,
  fc.constantFrom(...WEATHERS).map(turn),
  fc.constantFrom("evicted", "crashed" as const).map(lose),
];
