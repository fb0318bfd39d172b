import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { addressOfToken } from "../../../src/channels/web/identity.ts";
import { newChannel, newChat, newOrganization } from "../../support/harness.ts";
import { connect, newToken, objectOf, type Page } from "../../support/sockets.ts";
import { failEachStep } from "./every-step.ts";
import { answered, quietly } from "./fixtures.ts";
import { chatOnDisk, chatsOf } from "./looks.ts";

quietly();

type Visit = { channelId: string; token: string };

/** The result of a page's first message. The page itself reopens a closed socket. */
async function write(page: Page) {
  const ready = await page.next();
  if (ready.closed) return ready;
  return page.write("first", "Hi");
}

/** An organization whose object exists and has read its configuration. */
async function usedOrganization() {
  const organization = await newOrganization();
  await newChat(organization.api, organization.channelId);
  await env.ORGANIZATIONS.getByName(organization.organizationId).refresh();
  return organization;
}

test("a visitor's first message is stored once or refused for a while, whichever step fails", async () => {
  const organization = usedOrganization();
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
      const { organizationId } = await organization;
      return {
        ...(await chatOnDisk(chatId ?? "")),
        ...(await chatsOf({ organizationId, channelId }, await addressOfToken(token))),
        ids: undefined,
      };
    },
    // An adopted chat has an alarm that reports it, also without a message.
    between: (left) => {
      const { alarm, messages } = left as { alarm: boolean; messages: string[] };
      return !alarm || messages.length === 0;
    },
  });
  expect(names).toEqual(
    expect.arrayContaining(["CHATS.fetch", "CHANNELS.admitNewChat", "ORGANIZATIONS.open", "kv.put lean", "setAlarm"]),
  );
});
