import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { vi } from "vitest";
import { newId } from "../../../src/ids.ts";
import { alarmOf, type Conversation, crash } from "../../service/chats/object/delivery/conversation.ts";
import { asOwner } from "../../support/as-owner.ts";
import { admin } from "../../support/harness.ts";
import type { NetworkCall } from "../../support/networks.ts";
import type { RealChat } from "./chat-commands.ts";
import { GONE, type Weather } from "./chat-model.ts";
import { newIsolate } from "./isolates.ts";

/** A chat's own object, behind two isolates of the Worker. Each step ends when nothing is under way. */
export function realChat(
  { chatId, ownerId, organizationId, channelId, object }: Conversation,
  secret: string,
  calls: NetworkCall[],
  setWeather: (weather: Weather) => void,
  settled: () => Promise<void>,
): RealChat {
  const isolates = [newIsolate(), newIsolate()];
  const then = async <T>(work: () => Promise<T>): Promise<T> => {
    const answer = await work();
    await settled();
    return answer;
  };
  return {
    chatId,
    ownerId,
    ask: (isolate, method, path, body, key = null) => {
      const headers = key === null ? {} : { "Idempotency-Key": key };
      const ask = isolates[isolate] as (typeof isolates)[number];
      return then(() => ask(secret, method, `/api/v1/chats/${chatId}${path}`, { body, headers }));
    },
    receive: (dedupe, content) => {
      const draft = { dedupe, content, type: "TEXT" as const, media: null, origin: null, addresses: [] };
      return then(async () => object().receive(asOwner(organizationId), { ...draft, id: newId("msg", null) }));
    },
    tell: (messageId, networkId, status) => {
      const news = { messageId, networkId, status, error: status === "FAILED" ? GONE : null, addresses: [] };
      return then(async () => object().applyStatus(asOwner(organizationId), channelId, news));
    },
    redact: (messageId) => then(() => admin("POST", `/chats/${chatId}/messages/${messageId}/redact`)),
    queue: async () => {
      const state = await object().state(asOwner(organizationId));
      return state.outcome === "ok" ? state.queue : state;
    },
    wire: () => calls.map((call) => call.text),
    setClock: (now) => void vi.setSystemTime(now),
    setWeather,
    alarm: () => alarmOf(object()),
    ring: async () => void (await then(() => runDurableObjectAlarm(object()))),
    lose: async (how) => {
      // It may not be there since it was lost last: then it is made anew, and lost again.
      await alarmOf(object());
      await (how === "crashed" ? crash(object()) : evictDurableObject(object()));
    },
  };
}
