import { setTimeout as delay } from "node:timers/promises";
import { createChannel } from "../support/world/factories.ts";
import { wanted } from "../support/world/world.ts";
import { createOffice } from "./fixtures.ts";
import type { WorkCase } from "./work-cases.ts";

const RETENTION_DAYS = 30;
const DAY_MS = 86_400_000;
const LOOK_EVERY_MS = 50;
/** Chats of the channel that stays. */
const OTHERS = 1_000;
const REPEAT_MS = 500;

/** Deletes the old messages of the chat that gets the sends. */
export const retentionWork: WorkCase = {
  name: "retention",
  amount: 1_000_000,
  unit: "old messages of a chat",
  perSecond: 100,
  async make(place, amount) {
    const { channel, secret } = await createOffice(place);
    const chatId = await place.chat(channel, amount, Date.now() - 10 * RETENTION_DAYS * DAY_MS);
    return {
      chatIds: [chatId],
      secret,
      async run(ground) {
        const retention = { retentionDays: RETENTION_DAYS };
        wanted(200, await ground.call(ground.adminToken, "PATCH", `/admin/v1/channels/${channel.id}`, retention));
        let deleted = 0;
        while (deleted < amount && !ground.isOver()) {
          await delay(LOOK_EVERY_MS);
          const answer = await ground.call(secret, "GET", `/api/v1/chats/${chatId}/messages?limit=1`);
          const { messages, pagination } = wanted(200, answer);
          // The oldest messages are deleted first, so the numbers of the others have no gap.
          deleted = messages[0].seq - pagination.total;
        }
        if (deleted > amount) ground.faults.push(`${deleted - amount} young messages were deleted`);
        return deleted;
      },
    };
  },
};

/** Deletes a channel with its chats, as an operator does. */
export const deletionWork: WorkCase = {
  name: "deletion",
  amount: 200_000,
  unit: "chats of a channel",
  perSecond: 20,
  async make(place, amount) {
    const { channel, chatId, secret } = await createOffice(place);
    const { id } = await createChannel(channel.organization);
    await place.chats(channel, "visitor", OTHERS);
    await place.chats({ ...channel, id }, "user", amount);
    return {
      chatIds: [chatId],
      secret,
      async run(ground) {
        const path = `/admin/v1/channels/${id}`;
        while (!ground.isOver()) {
          const answer = await ground.call(ground.adminToken, "DELETE", path);
          // A request deletes a part, and the organization's object goes on. Who repeats it learns when all is deleted.
          if (answer.status === 503) {
            await delay(REPEAT_MS);
            continue;
          }
          wanted(200, answer);
          wanted(404, await ground.call(ground.adminToken, "GET", path));
          const { total } = wanted(200, await ground.call(secret, "GET", "/api/v1/chats?page=2")).pagination;
          if (total !== OTHERS + 1) ground.faults.push(`${total} chats are left`);
          return amount;
        }
        ground.faults.push("the channel is not deleted yet");
        return null;
      },
    };
  },
};
