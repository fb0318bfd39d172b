import createClient from "openapi-fetch";
import type { paths } from "../../src/openapi/client/types.ts";

/** Sends one message for an order, even if it is called twice. Returns its status and the chat's number of messages. */
export async function sendShippingNotice(baseUrl: string, key: string, chatId: string, order: string) {
  const parley = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
  const path = { id: chatId };
  const sent = await parley.POST("/chats/{id}/messages", {
    params: { path, header: { "Idempotency-Key": order } },
    body: { content: `Order ${order} has shipped.`, metadata: { order } },
  });
  if (sent.error) throw new Error(sent.error.code);
  const { data } = await parley.GET("/chats/{id}/messages", { params: { path, query: { limit: 10 } } });
  return { status: sent.data.message.status, total: data?.pagination.total };
}
