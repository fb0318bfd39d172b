import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { newChannel, newOrganization } from "../../support/harness.ts";
import { connect, newToken, objectOf, type Page } from "../../support/sockets.ts";
import { failEachStep } from "./every-step.ts";
import { chatOnDisk, count } from "./looks.ts";
import { answered, quietly } from "./places.ts";

quietly();

type Visit = { channelId: string; token: string };

/** The result of a page's first message. The page itself reopens a closed socket. */
async function write(page: Page) {
  const ready = await page.next();
  if (ready.closed) return ready;
  return page.write("first", "Hi");
}

test("a visitor's first message is stored once or refused for a while, whichever step fails", async () => {
  const organization = newOrganization();
  const { names } = await failEachStep<Visit, object>({
    place: async () => ({ channelId: await newChannel((await organization).organizationId, "web"), token: newToken() }),
    act: async ({ channelId, token }) => {
      const page = await connect(channelId, { token });
      const told = await write(page);
      if (!told.closed) await page.close();
      if (told.type === "stored") return answered(200);
      const isForAWhile =
        told.closed === 1013 || (told.type === "refused" && told.code === "unavailable" && told.retryAfter > 0);
      return answered(isForAWhile ? 503 : 599, JSON.stringify(told));
    },
    look: async ({ channelId, token }) => {
      const { name: chatId } = await objectOf(channelId, token);
      return {
        ...(await chatOnDisk(chatId ?? "")),
        chats: await count("chats", "id = ?", chatId ?? ""),
        addresses: await count("chat_addresses", "chat_id = ?", chatId ?? ""),
        counted: await env.DB.prepare("select chat_count as n from channels where id = ?").bind(channelId).first("n"),
      };
    },
    between: (left) => (left as { alarm: boolean }).alarm === false,
  });
  expect(names).toEqual(
    expect.arrayContaining(["CHATS.fetch", "CHANNELS.admitNewChat", "kv.put identity", "setAlarm"]),
  );
});
