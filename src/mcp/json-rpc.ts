import { readBytes } from "../http/body.ts";
import { isObject } from "../http/body-reader.ts";
import { MAX_BODY, refuseEncoding } from "../http/validation.ts";

export type RequestId = string | number;
export type Params = Record<string, unknown>;

/** A request, or a notification: it has no id, and gets no answer. */
export interface RpcRequest {
  id: RequestId | undefined;
  method: string;
  params: Params;
}

/** The codes of JSON-RPC, and those that MCP adds. */
export const RPC_CODES = {
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const;

/** A fault of the request itself. A fault of a tool is a result. */
export class RpcError extends Error {
  readonly code: number;
  /** The status of the response. */
  readonly status: number;
  readonly data: unknown;

  constructor(
    kind: keyof typeof RPC_CODES,
    message: string,
    { status = 400, data }: { status?: number; data?: unknown } = {},
  ) {
    super(message);
    this.code = RPC_CODES[kind];
    this.status = status;
    this.data = data;
  }
}

/**
 * Reads the one message of a body.
 * @throws RpcError; ApiError `media_type`, `body_too_large`
 */
export async function readRequest(request: Request): Promise<RpcRequest> {
  refuseEncoding(request.headers);
  const value = parsed(await readBytes(request, MAX_BODY));
  if (Array.isArray(value))
    throw new RpcError("invalidRequest", "Batches are not supported: send one message a request");
  if (!isObject(value)) throw new RpcError("invalidRequest", "The message must be a JSON object");
  const { jsonrpc, id, method, params = {} } = value;
  if (jsonrpc !== "2.0") throw new RpcError("invalidRequest", 'jsonrpc must be "2.0"');
  if (typeof method !== "string") throw new RpcError("invalidRequest", "method must be a string");
  if (id !== undefined && !isRequestId(id)) throw new RpcError("invalidRequest", "id must be a string or an integer");
  if (!isObject(params)) throw new RpcError("invalidParams", "params must be an object");
  return { id, method, params };
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || Number.isSafeInteger(id);
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    throw new RpcError("parse", "The body must be JSON in UTF-8");
  }
}
