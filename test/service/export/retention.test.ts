import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { readExportCursor } from "../../../src/export/cursor.ts";
import { exportParts } from "../../../src/export/export.ts";
import { messageId } from "../../../src/model/id.ts";
import { admin } from "../../support/harness.ts";
import { pass, stopTheClock } from "../chats/object/delivery/conversation.ts";
import { retainedPlace } from "../chats/object/retention/fixtures.ts";
import { DAY } from "../chats/object/scheduled/fixtures.ts";

stopTheClock();

interface Line {
  type: string;
  message?: { chatId: string; seq: number };
  chat?: { id: string };
  chatId?: string;
  next?: string | null;
  lastSeq?: number;
}

/**
 * A chat with the messages 1 to `old`, which are 20 days old, and up to `count`, which are new; and what deletes the old
 * ones, after 12 days more.
 */
async function retainedChat(old: number, count: number) {
  const place = await retainedPlace();
  const [sent] = await place.sendSome("Number 1");
  const object = place.object();
  const createdAt = new Date(Date.now() + 20 * DAY).toISOString();
  await runInDurableObject(object, (_object, { storage }) => {
    for (let seq = 2; seq <= count; seq++) {
      const id = messageId(sent?.id.slice(0, 20) ?? "", seq);
      const doc = JSON.stringify({ ...sent, id, seq, content: `Number ${seq}`, ...(seq > old && { createdAt }) });
      storage.sql.exec("insert into messages (seq, doc) values (?, ?)", seq, doc);
    }
  });
  await evictDurableObject(object);
  pass(20 * DAY);
  return { ...place, purge: () => place.passDays(12) };
}
type Retained = Awaited<ReturnType<typeof retainedChat>>;

type Kind = "a chat" | "an organization";

/** Reads an export: from its start or from where it was cut. The next part is only read when it is asked for. */
function openExport(kind: Kind, { organizationId, chatId }: Retained, after: string | null = null) {
  const ofChat = { organizationId, chatId, missing: "chat_not_found" } as const;
  const scope = kind === "a chat" ? ofChat : { ...ofChat, chatId: null, missing: "organization_not_found" as const };
  const parts = exportParts(env, scope, after === null ? null : readExportCursor(scope, after));
  return {
    /** The lines of the next part. */
    part: async (): Promise<Line[]> => parsed((await parts.next()).value as Uint8Array),
    rest: async (): Promise<Line[]> => (await Array.fromAsync(parts)).flatMap(parsed),
  };
}

function parsed(part: Uint8Array): Line[] {
  const lines = new TextDecoder().decode(part).split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}

/** The parts up to the first with messages of the chat. */
async function firstMessages({ part }: ReturnType<typeof openExport>): Promise<Line[]> {
  for (;;) {
    const lines = await part();
    if (lines.some(({ message }) => message)) return lines;
  }
}

const seqsOf = (lines: Line[]) => lines.flatMap(({ message }) => message?.seq ?? []);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

const KINDS: Kind[] = ["a chat", "an organization"];
const WAYS = KINDS.flatMap((kind) => ["goes on", "is cut and continued"].map((way) => [kind, way] as const));

test.each(WAYS)("an export of %s %s over messages that retention deletes between two parts", async (kind, way) => {
  const place = await retainedChat(800, 1_200);
  const open = openExport(kind, place);
  const first = await firstMessages(open);
  expect(seqsOf(first)).toEqual(range(1, 500));
  await place.purge();
  const next = first.at(-1)?.next ?? null;
  const rest = await (way === "goes on" ? open : openExport(kind, place, next)).rest();
  // The messages 501 to 800 are deleted.
  expect(seqsOf(rest)).toEqual(range(801, 1_200));
  expect(rest.at(-1)).toEqual({ type: "end", lastSeq: 1_200, next: null });
  expect(rest.filter(({ chat }) => chat)).toEqual([]);
});

test.each(WAYS)("an export of %s %s if retention deletes all that is left of it", async (kind, way) => {
  const place = await retainedChat(1_200, 1_200);
  const open = openExport(kind, place);
  const next = (await firstMessages(open)).at(-1)?.next ?? null;
  // The chat is not deleted with its messages, and the export ends with the newest message of its beginning.
  await place.schedule(300 * DAY);
  await place.purge();
  await place.sendSome("Number 1201");
  const rest = await (way === "goes on" ? open : openExport(kind, place, next)).rest();
  expect(seqsOf(rest)).toEqual([]);
  expect(rest.at(-1)).toEqual({ type: "end", lastSeq: 1_200, next: null });
});

test.each(KINDS)(
  "an export of %s says that retention or a request deleted the chat between two parts",
  async (kind) => {
    for (const end of ["retention", "request"]) {
      const place = await retainedChat(1_200, 1_200);
      const open = openExport(kind, place);
      await firstMessages(open);
      if (end === "request") await admin("DELETE", `/chats/${place.chatId}`);
      else await place.passDays(40);
      expect((await place.api("GET", `/chats/${place.chatId}`)).status).toBe(404);
      const rest = await open.rest();
      expect(seqsOf(rest)).toEqual([]);
      expect(rest.filter(({ type }) => type === "chat_deleted")).toEqual([
        { type: "chat_deleted", chatId: place.chatId },
      ]);
      expect(rest.at(-1)).toMatchObject({ type: "end", next: null });
    }
  },
);
