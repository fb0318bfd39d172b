import type { Context } from "hono";
import { ApiError } from "./errors.ts";

const BEARER = /^Bearer +(\S+) *$/i;

/**
 * The token of an `Authorization: Bearer` header; the scheme is case-insensitive (RFC 9110, 11.1).
 * @throws ApiError `missing_authorization`
 */
export function bearerToken(c: Context): string {
  const [, token] = BEARER.exec(c.req.header("Authorization") ?? "") ?? [];
  if (!token) throw new ApiError("missing_authorization");
  return token;
}
