import { expect, test } from "vitest";
import { type ApiRequest, createApi } from "../../src/web/console/api-client.ts";

function recorded() {
  const requests: ApiRequest[] = [];
  const api = createApi(async (request) => {
    requests.push(request);
    return { answer: requests.length };
  });
  return { api, requests };
}

test("a call fills the route's path and query, encoded, and returns the answer's body", async () => {
  const { api, requests } = recorded();
  const { signal } = new AbortController();
  const query = { limit: 100, before: "a b&c" };
  const answer: unknown = await api.GET("/chats/{id}/messages", { path: { id: "x/../y?" }, query, signal });
  expect(answer).toEqual({ answer: 1 });
  expect(requests).toEqual([
    {
      method: "GET",
      path: "/chats/x%2F..%2Fy%3F/messages?limit=100&before=a+b%26c",
      headers: {},
      body: undefined,
      signal,
    },
  ]);
});

test("a call has its method, headers and body", async () => {
  const { api, requests } = recorded();
  const [path, header] = [{ id: "c1" }, { "Idempotency-Key": "k" }];
  await api.POST("/chats/{id}/messages", { path, header, body: { content: "Hello" } });
  await api.PATCH("/chats/{id}/messages/{messageId}", {
    path: { id: "c1", messageId: "m1" },
    body: { scheduledAt: null },
  });
  await api.DELETE("/chats/{id}", { path });
  await api.GET("/organization");
  expect(requests.map(({ method, path, headers, body }) => ({ method, path, headers, body }))).toEqual([
    { method: "POST", path: "/chats/c1/messages", headers: header, body: { content: "Hello" } },
    { method: "PATCH", path: "/chats/c1/messages/m1", headers: {}, body: { scheduledAt: null } },
    { method: "DELETE", path: "/chats/c1", headers: {}, body: undefined },
    { method: "GET", path: "/organization", headers: {}, body: undefined },
  ]);
});

test("the types refuse what the OpenAPI document does not have", () => {
  const { api } = recorded();
  const wrong = [
    // @ts-expect-error: no such route
    () => api.GET("/nothing"),
    // @ts-expect-error: the route has no such method
    () => api.DELETE("/organization"),
    // @ts-expect-error: the path needs an id
    () => api.GET("/chats/{id}"),
    // @ts-expect-error: no such parameter
    () => api.GET("/chats", { query: { color: "red" } }),
    // @ts-expect-error: the body has another type
    () => api.PATCH("/channels/{id}", { path: { id: "c1" }, body: { retentionDays: "30" } }),
    // @ts-expect-error: the answer has no such field
    () => api.GET("/chats").then(({ messages }) => messages),
  ];
  expect(wrong).toHaveLength(6);
});
