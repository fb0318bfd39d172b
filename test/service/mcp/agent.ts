import { call } from "../../support/harness.ts";

const VERSION = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": VERSION,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** An agent with a key. */
export function agent(secret: string) {
  const authorization = { Authorization: `Bearer ${secret}` };
  /** Sends a body as it is. */
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    call("POST", "/api/v1/mcp", { body, headers: { ...authorization, ...headers } });
  /** Calls a method by the version with a handshake. */
  const ask = (method: string, params?: object) => post({ jsonrpc: "2.0", id: 1, method, params });
  /** Calls a method by the version without a handshake. */
  const askModern = (method: string, params: object = {}, headers: Record<string, string> = {}) => {
    const name = "name" in params ? { "Mcp-Name": String(params.name) } : {};
    const all = { "MCP-Protocol-Version": VERSION, "Mcp-Method": method, ...name, ...headers };
    return post({ jsonrpc: "2.0", id: "a", method, params: { ...params, _meta: META } }, all);
  };
  /** The names of the tools that it is shown. */
  const tools = async (): Promise<string[]> =>
    (await ask("tools/list")).body.result.tools.map(({ name }: { name: string }) => name);
  const use = async (name: string, given: object = {}) =>
    (await ask("tools/call", { name, arguments: given })).body.result;
  /** What a tool answers, and what it says before. */
  const get = async (name: string, given: object = {}) => {
    const { content, isError } = await use(name, given);
    if (isError) throw new Error(content[0].text);
    return { notice: content.length > 1 ? (content[0].text as string) : null, value: JSON.parse(content.at(-1).text) };
  };
  return { post, ask, askModern, tools, use, get };
}
