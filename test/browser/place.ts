import { ASSETS } from "../../src/web/build.ts";
import type { ChatMessage } from "../../src/web/frames.ts";
import { FakeServer } from "../web/fake-server.ts";

type Media = Partial<Pick<ChatMessage, "type" | "mediaUrl">>;

/**
 * Where the browser tests run, and the company's side of it. Everything that a test needs of a server stands here, so
 * that another implementation can put the same tests in front of the real one.
 */
export interface Place {
  base: string;
  channelId: string;
  /** The name at the top of the page. */
  name: string;
  /** What identifies a user in the page's fragment. */
  hashOf(user: string): string;
  /** The company writes to a user. */
  say(user: string, content: string, media?: Media): Promise<void>;
  /** A past of `count` messages, alternating, of which the company's are read. */
  fill(user: string, count: number): Promise<void>;
  /** What a user wrote, as it is stored. */
  heard(user: string): Promise<string[]>;
  /** The status of each message of the company's to a user, in order. */
  statuses(user: string): Promise<string[]>;
  close(): Promise<void>;
}

/** The fake server as a place. */
export async function openPlace(): Promise<Place> {
  const server = new FakeServer(ASSETS);
  const base = await server.listen();
  return {
    base,
    channelId: server.channelId,
    name: server.name,
    hashOf: (user) => server.hashOf(user),
    say: async (user, content, media = {}) => {
      const chat = server.chatOf(user);
      chat.broadcast({ type: "message", message: chat.add({ direction: "OUTBOUND", content, ...media }) });
    },
    fill: async (user, count) => {
      const chat = server.chatOf(user);
      for (let n = 1; n <= count; n++) {
        const createdAt = new Date(Date.now() - (count - n) * 9 * 60_000).toISOString();
        const part = { content: `Message ${n} of ${count}`, createdAt };
        chat.add(n % 3 === 0 ? { direction: "INBOUND", ...part } : { direction: "OUTBOUND", status: "READ", ...part });
      }
    },
    heard: async (user) =>
      server.chatOf(user).messages.flatMap(({ direction, content }) => (direction === "INBOUND" ? [content] : [])),
    statuses: async (user) =>
      server.chatOf(user).messages.flatMap(({ direction, status }) => (direction === "OUTBOUND" ? [status] : [])),
    close: () => server.close(),
  };
}

/** The address of the chat's page as a user opens it; further wishes go to the fragment. */
export function pageUrl(place: Place, user: string, wishes: Record<string, string> = {}): string {
  const fragment = new URLSearchParams({ user, hash: place.hashOf(user), ...wishes });
  return `${place.base}/web/${place.channelId}#${String(fragment)}`;
}
