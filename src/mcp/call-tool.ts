import type { ChatsContext } from "../chats/context.ts";
import { errorForClient } from "../db/error-for-client.ts";
import { isObject } from "../http/body-reader.ts";
import { refusedNeed } from "../keys/guard.ts";
import type { Caller } from "../model/caller.ts";
import { ApiError, type Fault, MAX_FAULTS } from "../model/error.ts";
import { lackOf } from "../model/permission.ts";
import { Fence } from "./fence.ts";
import { type Params, RpcError } from "./json-rpc.ts";
import { READING_TOOLS } from "./reading-tools.ts";
import type { Argument, Tool } from "./tool.ts";
import { WRITING_TOOLS } from "./writing-tools.ts";

const TOOLS: Record<string, Tool> = { ...READING_TOOLS, ...WRITING_TOOLS };

/** The form of all ids. Anything else would be another path. */
const ID = /^\w{1,64}$/;

/** The tools that a key may call, as `tools/list` shows them. */
export function toolsOf(caller: Caller): object[] {
  return Object.entries(TOOLS)
    .filter(([, { needs }]) => needs.some((need) => lackOf(caller, need) === null))
    .map(([name, { title, description, arguments: properties, required, annotations }]) => ({
      name,
      title,
      description,
      inputSchema: { type: "object", properties, required, additionalProperties: false },
      annotations,
    }));
}

/**
 * Calls a tool. A fault of the call is a result too, so that the agent can read it.
 * @throws RpcError for an unknown tool
 */
export async function callTool(c: ChatsContext, { name, arguments: given = {} }: Params): Promise<object> {
  const tool = typeof name === "string" && Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  if (!tool) throw new RpcError("invalidParams", `Unknown tool: ${String(name)}`, { status: 200 });
  if (!isObject(given)) throw new RpcError("invalidParams", "arguments must be an object", { status: 200 });
  try {
    return answerOf(await run(c, tool, given));
  } catch (error) {
    return faultOf(errorForClient(error, c.var.requestId));
  }
}

async function run(c: ChatsContext, tool: Tool, given: Params): Promise<unknown> {
  const { caller } = c.var;
  const [need = null] = tool.needs;
  // As a route: the permission comes before the input. A tool with several asks its route.
  const refused = tool.needs.length === 1 ? refusedNeed(caller, need) : null;
  if (refused) throw refused;
  const faults = faultsIn(tool, given);
  if (faults.length > 0) throw new ApiError("validation_failed", { faults });
  for (const [name, code] of [
    ["chatId", "chat_not_found"],
    ["templateId", "template_not_found"],
  ] as const) {
    const id = given[name];
    if (typeof id === "string" && !ID.test(id)) throw new ApiError(code);
  }
  return tool.call(c, given);
}

/** What is wrong with the arguments. The route checks the rest. */
function faultsIn({ arguments: known, required }: Tool, given: Params): Fault[] {
  const missing = required.filter((name) => given[name] === undefined);
  return [
    ...missing.map((path) => ({ path, message: "is required" })),
    ...Object.entries(given).flatMap(([path, value]) => {
      const argument = Object.hasOwn(known, path) ? known[path] : undefined;
      return argument ? faultsOfValue(path, argument, value) : [{ path, message: "is not an argument of this tool" }];
    }),
  ];
}

function faultsOfValue(path: string, argument: Argument, value: unknown): Fault[] {
  const { additionalProperties } = argument;
  const message = faultOfValue(argument, value);
  if (message !== null) return [{ path, message }];
  if (!additionalProperties || !isObject(value)) return [];
  const others = Object.keys(value).filter((name) => typeof value[name] !== additionalProperties.type);
  return others.map((name) => ({ path: `${path}.${name}`, message: `must be a ${additionalProperties.type}` }));
}

function faultOfValue(argument: Argument, value: unknown): string | null {
  const { type, minimum = 0, maximum = Number.MAX_SAFE_INTEGER, pattern } = argument;
  if (type === "integer") {
    const isWithin = Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
    const most = maximum === Number.MAX_SAFE_INTEGER ? "on" : `to ${maximum}`;
    return isWithin ? null : `must be an integer from ${minimum} ${most}`;
  }
  if (type === "object") return isObject(value) ? null : "must be an object";
  if (type === "boolean") return typeof value === "boolean" ? null : "must be true or false";
  if (value === null && Array.isArray(type)) return null;
  if (typeof value !== "string") return "must be a string";
  return pattern === undefined || new RegExp(pattern, "u").test(value) ? null : `must match ${pattern}`;
}

/** First what the marks mean, then the JSON. */
function answerOf(value: unknown): object {
  const fence = new Fence();
  const json = JSON.stringify(fence.around(value));
  const { notice } = fence;
  return { content: [...(notice === null ? [] : [notice]), json].map((each) => ({ type: "text", text: each })) };
}

function faultOf({ code, message, headers, ...error }: ApiError): object {
  const faults = error.faults?.slice(0, MAX_FAULTS);
  const lines = (faults ?? []).map((fault) => `${fault.path}: ${fault.message}`);
  const retryAfter = headers["Retry-After"];
  return {
    isError: true,
    content: [{ type: "text", text: [`${code}: ${message}`, ...lines].join("\n") }],
    structuredContent: {
      code,
      message,
      ...(faults && { errors: faults }),
      ...(retryAfter !== undefined && { retryAfterSeconds: Number(retryAfter) }),
    },
  };
}
