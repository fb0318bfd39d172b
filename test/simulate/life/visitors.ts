import type { ChatIdentity } from "../../../src/model/chat-answers.ts";
import { type ConnectingVisitor, visitorHeaders } from "../../../src/model/visitor.ts";
import type { SimulatedObject } from "../objects/object.ts";
import type { SimulatedSocket } from "../objects/sockets.ts";
import type { ContentJudge } from "./content-judge.ts";
import type { LifeJudge } from "./judge.ts";
import type { LifeWorld } from "./rules.ts";
import { Tab } from "./tab.ts";

const TABS = ["tab 1", "tab 2"];
const ADMISSION = { origin: null, ownOrigin: "https://parley.test", fingerprint: null };

/** The pages of web chats' visitors. */
export class Visitors {
  readonly #world: LifeWorld;
  readonly #judge: LifeJudge;
  readonly #content: ContentJudge;
  readonly #tabs = new Map<string, Tab>();
  /** The frames of messages, by their ids. */
  readonly #messages = new Map<string, object>();

  constructor(world: LifeWorld, judge: LifeJudge, content: ContentJudge) {
    this.#content = content;
    this.#world = world;
    this.#judge = judge;
  }

  /**
   * A page connects, writes a message, perhaps once more, or acknowledges what it has.
   * @param ids of messages that it may tap or reply to
   */
  act(chat: SimulatedObject, identity: ChatIdentity | null | undefined, ids: readonly string[]): void {
    const world = this.#world;
    const tab = this.#tab(chat);
    if (!tab || !identity) return;
    if (!tab.isOpen || world.random() < 0.1) {
      this.#connect(chat, identity, tab);
      return;
    }
    const frame = world.pick([
      this.#message(`${tab.name} writes ${world.between(1, 6)}`, ids),
      { type: "reaction", seq: world.between(0, tab.newest + 1), emoji: world.pick(["👍", "🎉", null]) },
      { type: "delivered", seq: tab.newest },
      { type: "read", seq: tab.newest },
    ]);
    chat.receive("webSocketMessage", [tab.socket, JSON.stringify(frame)], () => {});
  }

  /** The same frame whenever the page sends it. */
  #message(id: string, ids: readonly string[]): object {
    const world = this.#world;
    const known = this.#messages.get(id);
    if (known) return known;
    const content = `visitor-${id.replace(/\D/g, "")}-`;
    const choice = world.random() < 0.4 ? `${world.pick(ids)}:${world.pick([0, 0, 1, 7])}` : undefined;
    const replyTo = world.random() < 0.3 ? world.pick(ids) : undefined;
    const tap = choice === undefined ? undefined : { data: choice, title: content };
    this.#content.written({ dedupe: id, content, extra: { replyTo, tap } });
    const message = { type: "message", id, content, choice, replyTo };
    this.#messages.set(id, message);
    return message;
  }

  /** A frame leaves on one of the sockets. */
  framed(socket: SimulatedSocket, data: string): void {
    this.#content.checkSecret(data);
    for (const tab of this.#tabs.values()) if (tab.socket === socket) tab.hear(JSON.parse(data));
  }

  /** All that was under way has ended. The pages are closed: a chat that is empty stays while one is open. */
  end(): void {
    for (const tab of this.#tabs.values()) {
      tab.checkWhole();
      tab.socket?.close();
    }
  }

  #connect(chat: SimulatedObject, identity: ChatIdentity, tab: Tab): void {
    const { chatId, organizationId, channelId, contactAddress: address } = identity;
    const admission = { ...ADMISSION, readAt: chat.now };
    const at = { chatId, organizationId, channelId, address, clientNetwork: tab.name, admission, hasUploads: true };
    const headers = visitorHeaders({ ...at, after: tab.newest, events: tab.events } satisfies ConnectingVisitor);
    chat.receive("fetch", [{ headers: new Headers(headers) }], () => {});
    const socket = chat.sockets.at(-1);
    if (socket) tab.connected(socket);
  }

  /** The page of this life of a chat; undefined if there is no chat. */
  #tab(chat: SimulatedObject): Tab | undefined {
    const name = `${chat.name} ${this.#world.pick(TABS)}`;
    const book = this.#judge.book(chat);
    if (!book) return undefined;
    const known = this.#tabs.get(name);
    if (known?.book === book) return known;
    const tab = new Tab(this.#world, name, book);
    this.#tabs.set(name, tab);
    return tab;
  }
}
