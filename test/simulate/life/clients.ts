import type { ChatStub } from "../../../src/calls/call-chat.ts";
import type { Caller } from "../../../src/model/caller.ts";
import type {
  AsOwner,
  ChatChange,
  Draft,
  HandoverRequest,
  ListAnswer,
  MoveBody,
  Unknown,
} from "../../../src/model/chat-answers.ts";
import type { ListPosition } from "../../../src/model/list-page.ts";
import type { SendBody } from "../../../src/model/message.ts";
import type { WorkState } from "../../../src/model/work-state.ts";
import { fromText } from "../../../src/platform/answer-text.ts";
import type { SimulatedObject } from "../objects/object.ts";
import { CALLER, type Isolate, Requests } from "../objects/requests.ts";
import type { ContentJudge } from "./content-judge.ts";
import type { Service } from "./load-service.ts";
import { BOT, CHANNEL_ID, type LifeWorld } from "./rules.ts";
import { outboundExtra } from "./sayings.ts";

/** The key of the channel's bot. */
const BOT_CALLER: Caller = { ...CALLER, botOf: [CHANNEL_ID] };

interface SendRequest {
  caller: Caller;
  chatId: string;
  body: SendBody;
  idempotencyKey: string | null;
}

const MEMBER = { type: "member", id: "member", name: "Member" } as const;
const CONTEXT = { waitUntil: () => {} };

/** The clients of the API. What they are told is judged where it leaves the chat's object. */
export class Clients extends Requests {
  readonly #service: Service;
  readonly #content: ContentJudge;
  /** The requests that had an idempotency key. */
  readonly #keyed: SendRequest[] = [];

  constructor(world: LifeWorld, service: Service, isolates: readonly Isolate[], content: ContentJudge) {
    super(world, isolates);
    this.#service = service;
    this.#content = content;
  }

  /** `POST /messages`. Only a client with an idempotency key tries again. @param ids what the message may reply to */
  send(chat: SimulatedObject, more: Partial<SendBody>, ids: readonly string[] = [], caller = CALLER): void {
    const content = this.name("text");
    const idempotencyKey = this.world.random() < 0.6 ? content : null;
    const extra = ids.length > 0 ? outboundExtra(this.world as LifeWorld, (kind) => this.name(kind), ids) : {};
    const body = { content, metadata: {}, ...more, ...extra } as SendBody;
    const request = { caller, chatId: chat.name, body, idempotencyKey };
    if (idempotencyKey !== null) this.#keyed.push(request);
    this.#send(request);
  }

  /** The bot sends. */
  sendAsBot(chat: SimulatedObject, more: Partial<SendBody>): void {
    this.send(chat, more, [], BOT_CALLER);
  }

  /** `POST /handover`, by a client or by the bot, now and then with last words. */
  handOver(chat: SimulatedObject): void {
    const world = this.world as LifeWorld;
    const content = world.random() < 0.4 ? this.name("text") : null;
    if (content !== null) this.#content.said({ content, metadata: {} } as SendBody);
    const id = this.#service.newId("msg", null);
    const request: HandoverRequest = {
      id,
      to: world.pick(["people", "people", "bot"]),
      by: MEMBER,
      ...(world.random() < 0.3 && { botOf: [CHANNEL_ID] }),
      ...{ idempotencyHash: null, fingerprint: null, bot: BOT, note: null, assignment: null },
      message: content === null ? null : partingOf(id, content, world.now),
    };
    this.request("handover", async ({ env }) => {
      const answer = await this.#service.callChat(env, CALLER, chat.name, (stub, as) => stub.handOver(as, request));
      if (answer.outcome === "ok" && !answer.reported)
        throw Object.assign(new Error("Not reported"), { code: "unavailable" });
    });
  }

  /** `PATCH /chats/{id}` with a state. @param until when a snooze ends, Unix milliseconds */
  setState(chat: SimulatedObject, state: WorkState, until: number): void {
    const snoozedUntil = state === "snoozed" ? until : null;
    const change: ChatChange = { details: {}, state: { state, snoozedUntil, by: MEMBER } };
    this.request("state", async ({ env }) => {
      const { outcome } = await this.#service.callChat(env, CALLER, chat.name, (stub, as) =>
        stub.changeState(as, change),
      );
      if (outcome === "not_reported") throw Object.assign(new Error("Not reported"), { code: "unavailable" });
    });
  }

  /** `PUT` and `DELETE /chats/{id}/labels/{labelId}`. */
  label(chat: SimulatedObject, labelId: string, isGiven: boolean): void {
    this.request("label", async ({ env }) => {
      const { outcome } = await this.#service.callChat(env, CALLER, chat.name, (stub, as) =>
        stub.label(as, labelId, isGiven),
      );
      if (outcome === "not_reported") throw Object.assign(new Error("Not reported"), { code: "unavailable" });
    });
  }

  /** The same request again, with its idempotency key; now and then the key comes with another body. */
  repeat(): void {
    if (this.#keyed.length === 0) return;
    const request = this.world.pick(this.#keyed);
    const isOther = this.world.random() < 0.2;
    this.#send(isOther ? { ...request, body: { ...request.body, content: this.name("other") } } : request);
  }

  /** `PATCH /messages/{id}`. */
  move(chat: SimulatedObject, messageId: string, change: MoveBody): void {
    const ids = { chatId: chat.name, messageId };
    this.request("move", ({ env }) => this.#service.moveMessage(env, CALLER, ids, change));
  }

  /** `POST /messages/{id}/cancel`. */
  cancel(chat: SimulatedObject, messageId: string): void {
    const ids = { chatId: chat.name, messageId };
    this.request("cancel", ({ env }) => this.#service.cancelMessage(env, CALLER, ids));
  }

  /** `POST /messages/{id}/resend`. */
  resend(chat: SimulatedObject, messageId: string, body: { scheduledAt?: number }): void {
    const ids = { chatId: chat.name, messageId };
    const none = { senderId: undefined, scheduledAt: undefined, expiresAt: undefined };
    const request = { ...none, ifSeq: undefined, ifOpen: undefined, ...body };
    this.request("resend", ({ env }) => this.#service.resendMessage(env, CONTEXT, CALLER, ids, request));
  }

  /** `DELETE /admin/v1/chats/{id}/messages/{id}`. */
  redact(chat: SimulatedObject, messageId: string): void {
    const name = this.name("request");
    this.request("redact", async ({ env }) => {
      const answer = await this.#service.callChat(env, CALLER, chat.name, (stub, as) =>
        stub.redact(as, messageId, name),
      );
      if (answer.outcome === "not_reported") throw Object.assign(new Error("Not reported"), { code: "unavailable" });
    });
  }

  /** `GET /messages/{id}`. */
  get(chat: SimulatedObject, messageId: string): void {
    this.request("get", ({ env }) =>
      this.#service.callChat(env, CALLER, chat.name, (stub, as) => stub.get(as, messageId)),
    );
  }

  /** `GET /scheduled`. */
  list(chat: SimulatedObject): void {
    const query = { limit: this.world.between(1, 10), after: undefined };
    this.request("list", ({ env }) => this.#service.listScheduled(env, CALLER, chat.name, query));
  }

  /** `PUT /messages/{id}/reaction`, or `DELETE` for no emoji. */
  react(chat: SimulatedObject, messageId: string, emoji: string | null): void {
    this.#act("react", chat, async (stub, as) => (await stub.react(as, messageId, emoji)).outcome);
  }

  /** `POST /read`. */
  markRead(chat: SimulatedObject, messageId: string): void {
    this.#act("read", chat, async (stub, as) => (await stub.markRead(as, messageId)).outcome);
  }

  /** `POST /typing`. */
  showTyping(chat: SimulatedObject): void {
    this.#act("typing", chat, async (stub, as) => (await stub.showTyping(as, MEMBER)).outcome);
  }

  /** An act is made again if the network or the channel was away. */
  #act(name: string, chat: SimulatedObject, act: (stub: ChatStub, as: AsOwner) => Promise<string>): void {
    this.request(name, async ({ env }) => {
      const { outcome } = await this.#service.callChat(env, CALLER, chat.name, async (stub, as) => ({
        outcome: await act(stub, as),
      }));
      if (outcome === "away") throw Object.assign(new Error("Away"), { code: "unavailable" });
    });
  }

  /** A page of the organization's export. */
  export(chat: SimulatedObject): void {
    const asked = { seq: 0, upTo: null, unplacedAfter: "", life: null };
    this.request("export", ({ env }) =>
      this.#service.callChat(env, CALLER, chat.name, (stub, as) => stub.exportPage(as, asked)),
    );
  }

  /** `GET /messages`, and soon the same page again, or the first one. @param ids of messages, for cursors */
  page(chat: SimulatedObject, ids: readonly string[]): void {
    const { world } = this;
    const limit = world.pick([1, 3, 5]);
    const position = world.pick<ListPosition>([
      { page: world.pick([1, 1, 2, 3]), limit },
      { before: world.pick(ids), limit },
      { after: world.pick(ids), limit },
    ]);
    const versions = new Map<ListPosition, string>();
    const read = (at: ListPosition) =>
      this.request("page", ({ env }) =>
        this.#service.callChat(env, CALLER, chat.name, async (stub, as) => {
          const answer: ListAnswer | Unknown = fromText<ListAnswer | Unknown>(
            await stub.list(as, at, versions.get(at)),
          );
          if (answer.outcome === "ok") versions.set(at, answer.version);
          return answer;
        }),
      );
    read(position);
    const next = world.pick([position, position, { page: 1, limit: 2 }]);
    world.after(world.between(50, world.pick([500, 30_000])), () => read(next));
  }

  #send({ caller, chatId, ...request }: SendRequest): void {
    this.#content.said(request.body);
    const tries = request.idempotencyKey === null ? this.maxTries - 1 : 0;
    this.request(
      "send",
      ({ env }) => this.#service.sendMessage(env, CONTEXT, caller, chatId, { ...request, url: "https://parley.test/" }),
      tries,
    );
  }
}

/** The message of a handover. */
function partingOf(id: string, content: string, now: number): Draft {
  const none = { mediaUrl: null, templateId: null, variables: null, idempotencyHash: null, fingerprint: null };
  const prepared = { outcome: "prepared" as const, senderId: "member", text: content, template: null };
  return { id, calledAt: now, content, type: "TEXT", metadata: {}, prepared, ...none };
}
