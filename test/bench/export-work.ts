import { createOffice } from "./fixtures.ts";
import { authorized } from "./request.ts";
import type { WorkCase } from "./work-cases.ts";
import type { WorkGround } from "./work-ground.ts";

/** One chat of the organization has this many times as many messages as there are chats. */
const MESSAGES_A_CHAT = 10;
/** One of this many parts is the last before the client cuts the connection. */
const PARTS_TO_A_CUT = 30;
const SEED = 7;

/** Exports an organization over connections that are cut at random, and checks that each line came once. */
export const exportWork: WorkCase = {
  name: "export",
  amount: 10_000,
  unit: "chats, one of them long",
  perSecond: 100,
  async make(place, amount) {
    const { channel, chatId, secret } = await createOffice(place);
    await place.chats(channel, "contact", amount);
    const long = await place.chat(channel, amount * MESSAGES_A_CHAT);
    return {
      chatIds: [chatId],
      secret,
      async run(ground) {
        const lines = new ExportedLines();
        const random = randomFrom(SEED);
        let next: string | null = "";
        while (next !== null && !ground.isOver()) {
          next = await readExport(ground, secret, next, {
            isCut: () => random() * PARTS_TO_A_CUT < 1,
            keep: (line) => lines.keep(line),
          });
        }
        ground.faults.push(...lines.faults);
        const { size } = lines.chats;
        // The chats with the sends and with the messages come too.
        if (next === null && size !== amount + 2) ground.faults.push(`${size} chats came`);
        const messages = lines.lastSeqs.get(long);
        if (next === null && messages !== amount * MESSAGES_A_CHAT) {
          ground.faults.push(`${messages} messages of the long chat came`);
        }
        return Math.min(amount, size);
      },
    };
  },
};

interface Line {
  type: string;
  chat?: { id: string };
  message?: { chatId: string; seq: number };
  next?: string | null;
}

/** Chats and messages of an export. Each may come once, and the messages of a chat in their order. */
class ExportedLines {
  readonly chats = new Set<string>();
  readonly lastSeqs = new Map<string, number>();
  readonly faults: string[] = [];

  keep({ chat, message }: Line): void {
    if (chat) {
      if (this.chats.has(chat.id)) this.faults.push(`${chat.id} came twice`);
      this.chats.add(chat.id);
    }
    if (message) {
      const last = this.lastSeqs.get(message.chatId) ?? 0;
      if (message.seq !== last + 1) this.faults.push(`${message.chatId}: ${message.seq} follows ${last}`);
      this.lastSeqs.set(message.chatId, message.seq);
    }
  }
}

/**
 * Reads a response of an export up to its end, or up to a checkpoint at which `isCut` is true. Keeps what comes before the
 * last checkpoint. @returns where to continue; null at the end of the export
 */
async function readExport(
  { url }: WorkGround,
  secret: string,
  after: string,
  { isCut, keep }: { isCut: () => boolean; keep: (line: Line) => void },
): Promise<string | null> {
  const query = after === "" ? "" : `?after=${after}`;
  const response = await fetch(new URL(`/api/v1/export${query}`, url), { headers: authorized(secret) });
  if (!response.ok || !response.body) throw new Error(`an export was answered ${response.status}`);
  let next: string | null = after;
  let rest = "";
  let sinceCheckpoint: Line[] = [];
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const whole = (rest + chunk).split("\n");
    rest = whole.pop() ?? "";
    for (const text of whole) {
      const line = JSON.parse(text) as Line;
      sinceCheckpoint.push(line);
      if (line.type !== "checkpoint" && line.type !== "end") continue;
      for (const kept of sinceCheckpoint) keep(kept);
      sinceCheckpoint = [];
      next = line.next ?? null;
      // What follows in this response is dropped, as by a client whose connection is lost.
      if (next !== null && isCut()) return next;
    }
  }
  return next;
}

/** Numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
