import { exports } from "cloudflare:workers";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { client, newChat, newKey, newOrganization } from "../../support/harness.ts";
import { until } from "../../support/until.ts";
import { writeAsContact } from "../chats/inbound.ts";

const VERSIONS = [
  ["2026-07-28", { pin: "2026-07-28" }],
  ["2025-11-25", "legacy"],
  ["2026-07-28", "auto"],
] as const;

test.each(VERSIONS)("the official client connects by %s (%j), lists, reads and sends", async (version, mode) => {
  const { organizationId, channelId } = await newOrganization();
  const permissions = ["chats:read", "chats:write", "messages:read", "messages:send"];
  const { secret } = await newKey(organizationId, { permissions });
  const api = client(secret);
  const { id: chatId } = await newChat(api, channelId);
  await writeAsContact(organizationId, chatId, "Where is my parcel?");
  const statuses: string[] = [];
  const transport = new StreamableHTTPClientTransport(new URL("https://parley.test/api/v1/mcp"), {
    requestInit: { headers: { Authorization: `Bearer ${secret}` } },
    fetch: async (url, init) => {
      const response = await exports.default.fetch(new Request(url, init as RequestInit));
      statuses.push(`${init?.method ?? "GET"} ${response.status}`);
      return response;
    },
  });
  const agent = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await agent.connect(transport);
  expect(agent.getServerVersion()).toMatchObject({ name: "parley" });
  expect(agent.getNegotiatedProtocolVersion()).toBe(version);
  const { tools } = await agent.listTools();
  expect(tools.map(({ name }) => name)).toContain("send_message");
  const use = async (name: string, given: Record<string, unknown>) => {
    const { content, isError } = await agent.callTool({ name, arguments: given });
    expect(isError).not.toBe(true);
    const last = content.at(-1);
    return JSON.parse(last?.type === "text" ? last.text : "");
  };
  expect((await use("list_chats", {})).chats).toMatchObject([{ id: chatId }]);
  const { messages } = await use("list_messages", { chatId });
  expect(messages[0].text).toContain("Where is my parcel?");
  const given = { chatId, content: "It arrives today.", idempotencyKey: "1", ifSeq: messages[0].seq };
  expect((await use("send_message", given)).message).toMatchObject({ text: "It arrives today.", seq: 2 });
  const crossed = await agent.callTool({ name: "send_message", arguments: { ...given, idempotencyKey: "2" } });
  expect(crossed).toMatchObject({ isError: true, structuredContent: { code: "chat_moved_on" } });
  await expect(agent.callTool({ name: "unknown", arguments: {} })).rejects.toThrow(/Unknown tool/);
  const expected = version === "2025-11-25" ? ["POST 200", "POST 202", "GET 405"] : ["POST 200"];
  // By this version the client asks beside its calls whether the server streams.
  await until("it has made all its requests", () => expected.every((each) => statuses.includes(each)));
  await agent.close();
  expect((await api("GET", `/chats/${chatId}/messages`)).body.messages).toMatchObject([{ text: given.content }, {}]);
  expect(new Set(statuses)).toEqual(new Set(expected));
});
