import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { ChatParts } from "../../../src/chats/object/chat-parts.ts";
import type { ChatIdentity } from "../../../src/model/chat-answers.ts";
import { newId } from "../../../src/model/id.ts";
import { stopTheClock } from "./object/delivery/conversation.ts";

stopTheClock();

/** The parts of a chat that was adopted in another turn, on the storage of an object that is deleted afterward. */
async function withParts(work: (parts: ChatParts, storage: DurableObjectStorage) => Promise<void>): Promise<void> {
  const chatId = newId("cht", null);
  const organizationId = newId("org", null);
  await runInDurableObject(env.CHATS.getByName(chatId), async (_object, { storage }) => {
    const background: Promise<unknown>[] = [];
    const waitUntil = (promise: Promise<unknown>) => void background.push(promise.catch(() => {}));
    const ctx = { storage, waitUntil, getWebSockets: () => [] } as unknown as DurableObjectState;
    const parts = new ChatParts(ctx, env, () => Promise.resolve({ outcome: "unknown" }));
    const identity: ChatIdentity = {
      ...{ chatId, organizationId, channelId: newId("chn", null), channelKind: "web", contactAddress: "visitor" },
      ...{ createdAt: Date.now(), life: 1, addresses: [], isLean: true },
    };
    parts.adoption.identify(organizationId, identity);
    await parts.announce();
    await Promise.all(background);
    await work(parts, storage);
    await Promise.all(background);
    await storage.deleteAlarm();
    await storage.deleteAll();
  });
}

const happen = ({ log }: ChatParts) =>
  log.events.append({ type: "chat.updated", seq: null, note: null, at: Date.now() });

test("the changes of one commit and the call that made them share an announcement", async () => {
  await withParts(async (parts) => {
    const start = vi.spyOn(parts.subscriptions, "start");
    happen(parts);
    happen(parts);
    await parts.announce();
    expect(start).toHaveBeenCalledTimes(1);
  });
});

test("a change that is made while the subscriptions start gets an announcement of its own", async () => {
  await withParts(async (parts) => {
    let later: Promise<void> | undefined;
    const start = vi.spyOn(parts.subscriptions, "start").mockImplementationOnce(() => {
      // The alarm rings, and the change is too late for it.
      parts.alarm.gone();
      happen(parts);
      later = parts.announce();
    });
    await parts.announce();
    await later;
    expect(start).toHaveBeenCalledTimes(2);
    expect(await parts.alarm.standing()).not.toBeNull();
  });
});

test("each call that shares an announcement fails if the alarm can't be set, and the next call tries again", async () => {
  await withParts(async (parts, storage) => {
    await storage.deleteAlarm();
    parts.alarm.gone();
    vi.spyOn(storage, "setAlarm").mockRejectedValueOnce(new Error("The alarm can't be set"));
    happen(parts);
    const calls = await Promise.allSettled([parts.announce(), parts.announce()]);
    expect(calls.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await parts.announce();
    expect(await storage.getAlarm()).not.toBeNull();
  });
});
