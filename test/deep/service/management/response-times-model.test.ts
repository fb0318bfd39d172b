import { env } from "cloudflare:workers";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { report, writeAsContact } from "../../../service/chats/inbound.ts";
import { crash, pass, stopTheClock } from "../../../service/chats/object/delivery/conversation.ts";
import { conversationSums } from "../../../service/management/conversation-sums.ts";
import { breakObjects } from "../../../support/faults.ts";
import { admin, client, created, newChat, newKey, newOrganization, statsOf } from "../../../support/harness.ts";

/**
 * The numbers of conversations against a plain model: random days of two chats and two members, with lost reports and
 * objects that crash.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const CLASSES: [end: number, name: string][] = [
  [MINUTE, "within1m"],
  [5 * MINUTE, "within5m"],
  [15 * MINUTE, "within15m"],
  [HOUR, "within1h"],
  [4 * HOUR, "within4h"],
  [24 * HOUR, "within24h"],
  [Number.POSITIVE_INFINITY, "later"],
];
/** Around the ends of the classes, and back. */
const STEPS = [1, MINUTE - 1, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR - 1, HOUR, 4 * HOUR, 23 * HOUR, 24 * HOUR, -HOUR];

stopTheClock();

type Member = "ann" | "bob";
type Act =
  | { kind: "write" | "answered" | "unanswered" | "crash" | "redact"; chat: number }
  | { kind: "send" | "later"; chat: number; by: Member | null }
  | { kind: "assign"; chat: number; to: Member | null }
  | { kind: "pass"; ms: number }
  | { kind: "report" | "lose" | "crash organization" };

const chat = fc.nat(1);
const member = fc.constantFrom("ann", "bob", null);
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom("write"), chat }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom("send"), chat, by: member }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("later"), chat, by: member }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("assign"), chat, to: member }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom("pass"), ms: fc.constantFrom(...STEPS) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("crash", "answered", "unanswered", "redact"), chat }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("report", "report", "lose", "crash organization") }) },
) as fc.Arbitrary<Act>;

/** A chat as it should be. Times are Unix milliseconds. */
interface ModelChat {
  id: string;
  lastAt: number;
  waitsSince: number | null;
  /** Since when nobody has written to the contact that wrote; null if somebody has. */
  wroteAt: number | null;
  /** The wait was marked as answered, and is not counted. */
  isUncounted: boolean;
  assignee: Member | null;
  scheduled: { dueAt: number; by: Member | null }[];
}

/** What should be counted of the channel and of each member. */
class Model {
  readonly counts: Record<"channel" | Member, Record<string, number>> = { channel: {}, ann: {}, bob: {} };

  /** The next message of a chat. @param of the member for whom it counts */
  #message(chat: ModelChat, of: Member | null, ...names: string[]): void {
    chat.lastAt = Math.max(chat.lastAt, Date.now());
    for (const owner of ["channel" as const, ...(of ? [of] : [])]) {
      for (const name of names) this.counts[owner][name] = (this.counts[owner][name] ?? 0) + 1;
    }
  }

  write(chat: ModelChat): void {
    this.#message(chat, chat.assignee, "received");
    chat.wroteAt ??= chat.lastAt;
    chat.waitsSince ??= chat.lastAt;
  }

  send(chat: ModelChat, by: Member | null): void {
    const since = chat.waitsSince;
    const ms = Math.max(chat.lastAt, Date.now()) - (since ?? 0);
    const name = CLASSES.find(([end]) => ms < end)?.[1] ?? "";
    this.#message(chat, by, "sent", ...(since === null || chat.isUncounted ? [] : ["answers", name]));
    chat.waitsSince = null;
    chat.wroteAt = null;
    chat.isUncounted = false;
  }

  place(chat: ModelChat): void {
    const isDue = ({ dueAt }: { dueAt: number }) => dueAt <= Date.now();
    for (const { by } of chat.scheduled.filter(isDue).toSorted((a, b) => a.dueAt - b.dueAt)) this.send(chat, by);
    chat.scheduled = chat.scheduled.filter((message) => !isDue(message));
  }
}

/** What the service has counted, besides new chats. */
async function counted(of: string): Promise<Record<string, number>> {
  const { newChats: _, ...sums } = await conversationSums(of, "day");
  return sums;
}

async function runDay(acts: Act[]): Promise<void> {
  const { organizationId, channelId } = await newOrganization();
  const rateLimit = { limit: 1_000, windowSeconds: 60 };
  const permissions = ["chats:read", "chats:write", "chats:erase", "messages:read", "messages:send"];
  const api = client((await newKey(organizationId, { rateLimit, permissions })).secret);
  const newMember = async (name: string): Promise<string> =>
    created(await admin("POST", `/organizations/${organizationId}/members`, { name })).member.id;
  const ids = { ann: await newMember("Ann"), bob: await newMember("Bob") };
  const model = new Model();
  const newModelChat = async (): Promise<ModelChat> => {
    const { id, createdAt } = await newChat(api, channelId);
    return {
      id,
      lastAt: Date.parse(createdAt),
      waitsSince: null,
      wroteAt: null,
      isUncounted: false,
      assignee: null,
      scheduled: [],
    };
  };
  const chats = [await newModelChat(), await newModelChat()] as const;
  let latest = Date.now();
  let isLosing = false;
  const succeed = async (method: string, path: string, body?: object) => {
    const { status, text } = await api(method, path, body);
    // A change that is not reported stays, and is answered so.
    expect(status, text).toSatisfy((status: number) => status < 300 || (isLosing && status === 503));
  };
  const endLosses = () => {
    vi.restoreAllMocks();
    isLosing = false;
  };
  const tell = async (one: ModelChat) => {
    await report(one.id);
    model.place(one);
  };
  const send = (one: ModelChat, by: Member | null, more: object = {}) =>
    succeed("POST", `/chats/${one.id}/messages`, { content: "Hello", ...(by && { senderId: ids[by] }), ...more });

  for (const each of acts) {
    const one = chats["chat" in each ? (each.chat as 0 | 1) : 0];
    if (each.kind === "pass") pass(each.ms);
    if (each.kind === "write") {
      await writeAsContact(organizationId, one.id);
      model.write(one);
    }
    if (each.kind === "send") {
      await send(one, each.by);
      model.place(one);
      model.send(one, each.by);
    }
    if (each.kind === "later") {
      const dueAt = Date.now() + 10 * MINUTE;
      await send(one, each.by, { scheduledAt: new Date(dueAt).toISOString() });
      // Each send gives those that are due their places first.
      model.place(one);
      one.scheduled.push({ dueAt, by: each.by });
    }
    if (each.kind === "assign") {
      await succeed("PATCH", `/chats/${one.id}`, { assigneeId: each.to && ids[each.to] });
      one.assignee = each.to;
    }
    if (each.kind === "answered") {
      endLosses();
      await succeed("POST", `/chats/${one.id}/answered`);
      one.waitsSince = null;
      one.isUncounted = false;
    }
    if (each.kind === "unanswered") {
      endLosses();
      const { status } = await api("DELETE", `/chats/${one.id}/answered`);
      expect(status).toBe(one.wroteAt === null ? 409 : 200);
      if (one.wroteAt !== one.waitsSince) one.isUncounted = true;
      one.waitsSince = one.wroteAt;
    }
    if (each.kind === "redact") {
      const { messages } = (await api("GET", `/chats/${one.id}/messages`)).body;
      const message = messages.find(({ redactedAt }: { redactedAt?: string }) => redactedAt === undefined);
      if (message) await succeed("POST", `/chats/${one.id}/messages/${message.id}/redact`);
    }
    if (each.kind === "crash") await crash(env.CHATS.getByName(one.id));
    if (each.kind === "crash organization") {
      endLosses();
      await crash(env.ORGANIZATIONS.getByName(organizationId));
    }
    if (each.kind === "report") {
      endLosses();
      for (const chat of chats) await tell(chat);
    }
    if (each.kind === "lose") {
      endLosses();
      breakObjects("ORGANIZATIONS", "report", (call) => call % 2 === 1);
      isLosing = true;
    }
    latest = Math.max(latest, Date.now());
  }
  endLosses();
  vi.setSystemTime(latest + MINUTE);
  // The first alarm may place messages, and the report follows in the next one.
  for (const one of [...chats, ...chats]) await tell(one);
  const { channel, ...members } = model.counts;
  expect({
    channel: await counted(channelId),
    ann: await counted(ids.ann),
    bob: await counted(ids.bob),
  }).toEqual({ channel, ...members });
  const now = await statsOf(organizationId);
  const of = (test: (chat: ModelChat) => boolean) => {
    const its = chats.filter(test);
    return { chats: its.length, unanswered: its.filter(({ waitsSince }) => waitsSince !== null).length };
  };
  expect(now.channels).toMatchObject([of(() => true)]);
  for (const name of ["ann", "bob"] as const) {
    const found = now.members.find(({ id }: { id: string }) => id === ids[name]);
    expect(found).toMatchObject(of(({ assignee }) => assignee === name));
  }
}

test("over random days with crashes and lost reports, what is counted is what a plain model counts", async () => {
  await fc.assert(fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 60, size: "max" }), runDay), {
    numRuns: 12,
    endOnFailure: true,
  });
});
