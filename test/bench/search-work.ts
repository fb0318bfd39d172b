import { setTimeout as delay } from "node:timers/promises";
import { caller, wanted } from "../support/world/world.ts";
import { createOffice, type Office } from "./fixtures.ts";
import type { WorkCase } from "./work-cases.ts";
import type { WorkGround } from "./work-ground.ts";

const CHAT_MESSAGES = 1_000;
const SEARCH_EVERY_MS = 500;
const FOUND_WITHIN_MS = 10_000;

/** Fills the search over all messages of the organization that sends, and searches meanwhile. */
export const searchWork: WorkCase = {
  name: "search",
  amount: 100_000,
  unit: "messages that the index gets",
  perSecond: 100,
  async make(place, amount) {
    const office = await createOffice(place);
    const chatIds: string[] = [];
    for (let made = 0; made < amount; made += CHAT_MESSAGES) {
      chatIds.push(await place.chat(office.channel, Math.min(CHAT_MESSAGES, amount - made)));
    }
    return {
      chatIds,
      secret: office.secret,
      async run(ground) {
        const path = `/organizations/${office.channel.organization.id}`;
        const operator = caller(ground, "/admin/v1", ground.adminToken);
        await operator("PATCH", path, { search: { on: true } });
        while (!ground.isOver()) {
          await delay(SEARCH_EVERY_MS);
          await search(ground, office, "nowhere to be found");
          if ((await operator("GET", path)).organization.search.state === "on") return amount;
        }
        ground.faults.push("the index is not filled yet");
        return null;
      },
      async check(ground) {
        const [n, answeredAt] = [...ground.answered].at(-1) ?? [];
        if (n === undefined || answeredAt === undefined) return;
        while ((await search(ground, office, `message ${n}.`)) === 0) {
          if (performance.now() - answeredAt > FOUND_WITHIN_MS) {
            ground.faults.push(`message ${n} is not found after ${FOUND_WITHIN_MS} ms`);
            return;
          }
          await delay(SEARCH_EVERY_MS);
        }
      },
    };
  },
};

/** Notes how long it takes. @returns how many messages the page has */
async function search(ground: WorkGround, { secret }: Office, text: string): Promise<number> {
  const startedAt = performance.now();
  const answer = await ground.call(secret, "GET", `/api/v1/messages?search=${encodeURIComponent(text)}`);
  ground.note("GET /messages?search", performance.now() - startedAt);
  return wanted(200, answer).messages.length;
}
