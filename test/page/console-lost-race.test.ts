import { expect, test } from "vitest";
import { ParleyError } from "../../src/client/error.ts";
import type { Chat } from "../../src/web/console/api.ts";
import { type ApiRequest, createApi } from "../../src/web/console/api-client.ts";
import { ConversationStore } from "../../src/web/console/inbox/conversation-store.ts";

const chat = (assigneeId: string | null) =>
  ({ id: "cht_1", assigneeId, nextScheduledAt: null, lastMessage: null }) as unknown as Chat;

test("a chat that somebody else took before it was opened is shown as theirs, also before its messages are there", async () => {
  // The list's row is older than what happened.
  const answerTo = async ({ method, path }: ApiRequest) => {
    if (method === "PATCH") throw new ParleyError("Another one", { status: 409, code: "chat_reassigned" });
    if (path.endsWith("/cht_1")) return { chat: chat("mbr_2") };
    return { messages: [], pagination: { hasMore: false } };
  };
  const store = new ConversationStore(createApi(answerTo), "cht_1", chat(null), () => {});
  expect(await store.assign("mbr_1")).toBe(false);
  expect(store.chat.value?.assigneeId).toBe("mbr_2");
});
