import * as z from "zod";
import { jsonResponse, tagged } from "./operation.ts";

const id = z.union([z.string(), z.int()]).optional();

const request = z.object({
  jsonrpc: z.literal("2.0"),
  id,
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});

const fault = z.object({
  jsonrpc: z.literal("2.0"),
  id: id.describe("The request's. Absent if it could not be read"),
  error: z.object({
    code: z.int().describe("A code of JSON-RPC or of the Model Context Protocol"),
    message: z.string().describe("What is wrong with the request"),
    data: z.unknown().optional().describe("For another version: those that are supported"),
  }),
});

const answer = z.object({
  ...fault.shape,
  result: z.record(z.string(), z.unknown()).optional().describe("The method's result. A fault of a tool is one too"),
  error: fault.shape.error.optional().describe("In place of a result: what is wrong with the request"),
});

/** The query has the faults of all routes. */
const badQuery = z.object({
  message: z.string().describe("What is wrong with the query"),
  code: z.literal("validation_failed"),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).describe("Each problem"),
});

const wrong = { jsonrpc: "2.0", error: { code: -32_700, message: "The body must be JSON in UTF-8" } } as const;

export const AGENT_OPERATIONS = tagged("Agents", [
  {
    route: "POST /mcp",
    id: "callAsAgent",
    summary: "Call a tool as an agent",
    description:
      "The endpoint of the Model Context Protocol, for AI agents: JSON-RPC 2.0, one message a request, nothing kept between requests. Versions: 2026-07-28 (`server/discover`) and 2025-11-25 (`initialize`, without a session id). `tools/list` lists the tools for which the key has the permissions, and `tools/call` calls one. A tool does what its route does, with the same permissions, checks and faults. A fault of a tool is a result with `isError`, and `structuredContent.code` is the code. A request counts as one of the key, whatever it calls. A request with the header `Origin` is a 403. Needs no permission.",
    headers: [
      {
        name: "MCP-Protocol-Version",
        description: "The version of the protocol.",
        schema: { type: "string" },
        example: "2025-11-25",
      },
    ],
    body: {
      name: "AgentMessage",
      isForeign: true,
      description: "A request, or a notification, which has no `id`.",
      schema: request,
      descriptions: {
        jsonrpc: "The version of JSON-RPC.",
        id: "The request's id, which the answer has too.",
        method: "Such as `tools/list` or `tools/call`.",
        params: "What the method takes: for `tools/call`, `name` and `arguments`.",
      },
      example: {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "list_chats", arguments: { unanswered: true } },
      },
    },
    responses: [
      jsonResponse(200, "The answer to a request.", answer, {
        jsonrpc: "2.0",
        id: 1,
        result: { content: [{ type: "text", text: '{"chats":[],"pagination":{"limit":20,"hasMore":false}}' }] },
      }),
      { status: 202, description: "A notification was read.", empty: true },
      jsonResponse(400, "The message, its version or the query is wrong.", z.union([fault, badQuery]), wrong),
      jsonResponse(404, "The version has no such method.", fault, {
        jsonrpc: "2.0",
        id: 1,
        error: { code: -32_601, message: "Method not found: prompts/list" },
      }),
    ],
    errors: ["cross_site"],
  },
]);
