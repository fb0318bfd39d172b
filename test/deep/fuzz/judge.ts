import { ERRORS, type ErrorCode } from "../../../src/model/error.ts";
import type { Told } from "./fixtures.ts";

const FINE = [101, 200, 201, 202, 204, 302, 304, 400, 401, 403, 404, 405, 409, 410, 411, 413, 415, 422, 503];

/** Where strangers meet limits that no setting raises. */
const LIMITED = "POST /web/:channelId/media";

/** What no request may be answered with, whatever it is; null where all is as it must be. */
export function faultOf(method: string, route: string, { status, headers, text, body }: Told): string | null {
  // The server before the Worker answers an address that is too long.
  if (status === 414 && !headers.has("X-Request-Id")) return null;
  if (!FINE.includes(status) && !(status === 429 && route === LIMITED)) return `the status ${status}`;
  if (headers.get("X-Injected") !== null) return "a header of the client's own making";
  if (status === 101) return null;
  for (const name of ["X-Request-Id", "X-Content-Type-Options", "Cache-Control", "Content-Security-Policy"]) {
    if (!headers.has(name)) return `no ${name}`;
  }
  if (method === "HEAD") return text === "" ? null : "a body to HEAD";
  return status < 400 ? null : faultOfError(status, headers, body);
}

function faultOfError(status: number, headers: Headers, body: Record<string, unknown> | null): string | null {
  if (body === null || !headers.get("Content-Type")?.startsWith("application/json")) return "an error that is no JSON";
  // The endpoint for agents has the faults of JSON-RPC.
  if (body.jsonrpc === "2.0") return [400, 404].includes(status) && body.error ? null : `${status} of JSON-RPC`;
  const { code, message, error, errors, ...others } = body;
  const known = ERRORS[code as ErrorCode];
  if (!known || known.status !== status) return `${status} with the code ${JSON.stringify(code)}`;
  const told = known.shape === "message" ? [message, error] : [error, message];
  if (typeof told[0] !== "string" || told[1] !== undefined) return "both shapes, or the wrong one";
  if (Object.keys(others).length > 0) return `the fields ${Object.keys(others).join(", ")}`;
  if ((errors !== undefined) !== (code === "validation_failed")) return "errors where there are none, or none";
  if (errors !== undefined && !isListOfFaults(errors)) return "errors that are no list of path and message";
  if (status === 405 && !headers.get("Allow")) return "405 without Allow";
  if ([429, 503].includes(status) && !headers.get("Retry-After")) return `${status} without Retry-After`;
  return null;
}

function isListOfFaults(errors: unknown): boolean {
  const isFault = (each: object) =>
    Object.entries(each).every(([name, value]) => ["path", "message"].includes(name) && typeof value === "string") &&
    Object.keys(each).length === 2;
  return Array.isArray(errors) && errors.length > 0 && errors.every(isFault);
}
