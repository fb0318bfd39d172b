import type { Context } from "hono";
import { ApiError } from "../model/error.ts";

const BEARER = /^Bearer +(\S+) *$/i;

/**
 * The token of an `Authorization: Bearer` header; the scheme is case-insensitive (RFC 9110, 11.1).
 * @throws ApiError `missing_authorization`
 */
export function bearerToken(c: Context): string {
  const token = c.req.header("Authorization")?.match(BEARER)?.[1];
  if (!token) throw new ApiError("missing_authorization");
  return token;
}
