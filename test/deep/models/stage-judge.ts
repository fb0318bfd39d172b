import { expect } from "vitest";
import type { Message } from "../../../src/chats/message.ts";
import type { SendAnswer, Unknown } from "../../../src/chats/rpc.ts";
import { asOwner } from "../../support/as-owner.ts";
import { saw } from "./hold.ts";
import type { Stage } from "./stage.ts";

const FORWARD: Message["status"][] = ["SENT", "DELIVERED", "READ"];

/** What must hold of a staged chat, whatever the order in which things happen to it. */
export class StageJudge {
  readonly #stage: Stage;
  #before = new Map<string, Message>();
  readonly #acknowledged = new Set<string>();
  /** The page that a reader has. */
  #page: { version: string; text: string } | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** A client was told that its message is stored: it stays. */
  acknowledged(answers: SendAnswer[] | Unknown): void {
    if (!Array.isArray(answers)) throw new Error("the chat does not know itself");
    for (const answer of answers) {
      if (answer.outcome !== "stored") throw new Error(`a send is refused: ${answer.code}`);
      this.#acknowledged.add((JSON.parse(answer.doc) as Message).id);
    }
  }

  /** A reader has the chat as it is, be it by a page that it had before. */
  read(): void {
    const { organizationId } = this.#stage.identity;
    const place = { page: 1, limit: 100 };
    const answer = this.#stage.chat.list(asOwner(organizationId), place, this.#page?.version);
    if (answer.outcome === "ok") {
      this.#page = { version: answer.version, text: new TextDecoder().decode(answer.body) };
    } else {
      expect(answer.outcome).toBe("unchanged");
      saw("a page that is unchanged");
    }
    expect(JSON.parse(this.#page?.text ?? "").messages).toEqual(this.#stage.messages().reverse());
  }

  /** After each thing that happened. */
  look(): void {
    const messages = this.#stage.messages();
    expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, at) => at + 1));
    const ids = new Set(messages.map(({ id }) => id));
    for (const id of this.#acknowledged) expect(ids, "an acknowledged message").toContain(id);
    for (const { id, seq, status } of messages) {
      const before = this.#before.get(id);
      if (!before || before.status === status) continue;
      saw(`${before.status} to ${status}`);
      const text = `message ${seq} went from ${before.status} to ${status}`;
      expect(FORWARD.indexOf(status), text).toBeGreaterThan(FORWARD.indexOf(before.status));
    }
    this.#before = new Map(messages.map((message) => [message.id, message]));
  }
}
