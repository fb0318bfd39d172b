import { afterEach, expect, test, vi } from "vitest";
import { admin, call, newChat, newOrganization } from "../../support/harness.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** The `request` lines that are logged from here on. */
function requestLines(): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  vi.spyOn(console, "log").mockImplementation((line: unknown) => {
    const told = (typeof line === "string" ? JSON.parse(line) : line) as Record<string, unknown>;
    if (told.event === "request") lines.push(told);
  });
  return lines;
}

test("a request logs one line with exactly these fields, and with its route instead of its address", async () => {
  const { api, keyId, organizationId, channelId } = await newOrganization();
  const chat = await newChat(api, channelId, "a-private-address");
  const lines = requestLines();
  const answer = await api("POST", `/chats/${chat.id}/messages`, { content: "A private word" });
  await api("GET", "/chats?contact=a-private-address");
  await admin("GET", `/chats/${chat.id}`);
  await call("GET", "/private/address");
  const fields = { event: "request", requestId: expect.any(String), ms: expect.any(Number) };
  const ofKey = { ...fields, keyId, organizationId };
  expect(lines).toEqual([
    {
      ...ofKey,
      requestId: answer.headers.get("X-Request-Id"),
      method: "POST",
      route: "/api/v1/chats/:id/messages",
      status: 201,
    },
    { ...ofKey, method: "GET", route: "/api/v1/chats", status: 200 },
    { ...fields, method: "GET", route: "/admin/v1/chats/:id", status: 200 },
    { ...fields, method: "GET", route: expect.stringMatching(/^\/?\*?$/), status: 404 },
  ]);
  expect(JSON.stringify(lines)).not.toContain("private");
});
