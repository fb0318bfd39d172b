import { setTimeout as delay } from "node:timers/promises";
import { type Endpoint, webhookReceiver } from "../support/webhook-receiver.ts";
import { createChat } from "../support/world/factories.ts";
import { caller, wanted } from "../support/world/world.ts";
import { createOffice } from "./fixtures.ts";
import type { WorkCase } from "./work-cases.ts";

const SENT_AT_ONCE = 20;
const LOOK_EVERY_MS = 200;
const HOUR_MS = 3_600_000;

/** A webhook gets one event of each of its organization's chats again. The sends and lists are another organization's. */
export const replayWork: WorkCase = {
  name: "replay",
  amount: 1_000,
  unit: "chats of another organization, each with an event that a webhook gets again",
  perSecond: 100,
  async make(place, amount) {
    const [{ chatId, secret }, theirs] = [await createOffice(place), await createOffice(place)];
    const replayed: string[] = [];
    for (let n = 0; n < amount; n++) {
      replayed.push((await createChat(theirs.channel, { contact: { address: `user-${n}` } })).id);
    }
    let endpoint: Endpoint | undefined;
    let webhookId = "";
    return {
      chatIds: [chatId],
      secret,
      async open(ground) {
        const receiver = await webhookReceiver();
        ground.atEnd(() => receiver.close());
        endpoint = receiver.endpoint();
        const api = caller(ground, "/api/v1", theirs.secret);
        const asked = { url: endpoint.url, types: ["message.created"], perSecond: 500, concurrency: 100 };
        webhookId = (await api("POST", "/webhooks", asked)).webhook.id;
        for (let from = 0; from < amount; from += SENT_AT_ONCE) {
          const some = replayed.slice(from, from + SENT_AT_ONCE);
          await Promise.all(some.map((id) => api("POST", `/chats/${id}/messages`, { content: "Hello" })));
        }
        while (endpoint.calls.length < amount) await delay(LOOK_EVERY_MS);
        // A replay finds what the chats have reported, which can be five seconds later.
        let [known, after] = [0, ""];
        while (known < amount) {
          const query = new URLSearchParams({ types: "message.created", limit: "100", ...(after && { after }) });
          const page = await api("GET", `/events?${query}`);
          known += page.events.length;
          after = page.cursor;
          if (!page.hasMore) await delay(LOOK_EVERY_MS);
        }
      },
      async run(ground) {
        const before = endpoint?.calls.length ?? 0;
        const path = `/api/v1/webhooks/${webhookId}/replays`;
        const since = new Date(Date.now() - HOUR_MS).toISOString();
        const { replay } = wanted(202, await ground.call(theirs.secret, "POST", path, { since }));
        for (let state = replay.state; state !== "done" && !ground.isOver(); await delay(LOOK_EVERY_MS)) {
          state = wanted(200, await ground.call(theirs.secret, "GET", `${path}/${replay.id}`)).replay.state;
        }
        return (endpoint?.calls.length ?? 0) - before;
      },
    };
  },
};
