import fc from "fast-check";
import { expect, test } from "vitest";
import { nextToSend } from "../../src/web/visitor/acknowledgments.ts";
import {
  type Conversation,
  emptyConversation,
  newestSeq,
  reduce,
  resumeAfter,
} from "../../src/web/visitor/conversation.ts";
import type { ChatMessage, IncomingFrame } from "../../src/web/visitor/frames.ts";
import { timelineOf } from "../../src/web/visitor/timeline.ts";
import { inbound, outbound, ready, stored } from "./frames.ts";

const PAGE = 100;

const step = fc.oneof(
  fc.record({ kind: fc.constant("write" as const), text: fc.constantFrom("ok", "yes", "no") }),
  fc.record({ kind: fc.constant("company" as const), count: fc.constantFrom(1, 2, 150) }),
  fc.record({ kind: fc.constant("other tab" as const), text: fc.constantFrom("ok", "yes") }),
  fc.record({ kind: fc.constant("send" as const), acknowledged: fc.boolean(), arrives: fc.boolean() }),
  fc.record({ kind: fc.constant("reconnect" as const) }),
  fc.record({ kind: fc.constant("made anew" as const), count: fc.constantFrom(0, 1, 3, 150) }),
);

/** A chat and a page with it. The connection loses the frames that it is told to lose. */
class World {
  log: ChatMessage[] = [];
  readonly stored = new Map<string, number>();
  state: Conversation = emptyConversation();
  connected = false;
  written = 0;
  /** How often the chat was deleted. */
  era = 0;

  hear(frame: IncomingFrame): void {
    if (!this.connected) return;
    this.state = reduce(this.state, { type: "frame", frame });
    if (frame.type !== "ready" && !this.state.caughtUp) this.connect();
  }

  connect(): void {
    this.connected = true;
    for (let round = 0; round < 10; round++) {
      const after = resumeAfter(this.state);
      const page = this.log.slice(after, after + PAGE);
      const frame = ready(page, this.log.length);
      this.state = reduce(this.state, { type: "frame", frame });
      if (this.state.caughtUp) return;
    }
    throw new Error("the page never catches up");
  }

  store(message: ChatMessage): void {
    this.log.push({ ...message, id: `${message.id} of ${this.era}` });
  }

  /** Deletes the chat while the page is away. A chat with other messages replaces it. */
  remake(count: number): void {
    this.connected = false;
    this.era++;
    this.log = [];
    this.stored.clear();
    for (let seq = 1; seq <= count; seq++) this.store(outbound(seq, `of ${this.era}`));
  }

  send(acknowledged: boolean, arrives: boolean): void {
    const own = nextToSend(this.state);
    if (!own || !this.connected) return;
    this.state = reduce(this.state, { type: "tried", id: own.id });
    if (arrives && !this.stored.has(own.id)) {
      this.store(inbound(this.log.length + 1, own.text));
      this.stored.set(own.id, this.log.length);
    }
    const seq = this.stored.get(own.id);
    if (arrives && acknowledged && seq !== undefined)
      this.hear({ ...stored(own.id, seq), messageId: this.log[seq - 1]?.id ?? "" });
    else this.connected = false;
  }
}

test("whatever the connection loses, each message is stored once, shown once, and in order", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const world = new World();
      world.connect();
      for (const one of steps) {
        if (one.kind === "write") {
          const id = `own ${++world.written}`;
          world.state = reduce(world.state, { type: "write", id, text: one.text, at: 0 });
        } else if (one.kind === "send") world.send(one.acknowledged, one.arrives);
        else if (one.kind === "reconnect") world.connect();
        else if (one.kind === "made anew") world.remake(one.count);
        else {
          for (let n = 0; n < (one.kind === "company" ? one.count : 1); n++) {
            const seq = world.log.length + 1;
            const message = one.kind === "company" ? outbound(seq, "hello") : inbound(seq, one.text);
            world.store(message);
            world.hear({ type: "message", message: world.log.at(-1) ?? message });
          }
        }
        const keys = timelineOf(world.state).map(({ key }) => key);
        expect(new Set(keys).size).toBe(keys.length);
      }
      while (world.state.outbox.length > 0) {
        world.connect();
        world.send(true, true);
      }
      world.connect();
      if (world.era === 0) expect(world.stored.size).toBe(world.written);
      expect(newestSeq(world.state)).toBe(world.log.length);
      const first = world.state.entries[0]?.message.seq ?? 1;
      const shown = timelineOf(world.state).map(({ message }) => message.text);
      expect(shown).toEqual(world.log.slice(first - 1).map(({ text }) => text));
    }),
    { numRuns: 1_000 },
  );
});
