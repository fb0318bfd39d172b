import { Hono } from "hono";
import { expect, test } from "vitest";
import { bearerToken } from "../../../src/http/bearer.ts";
import { ApiError } from "../../../src/model/error.ts";

/** The token in this header, or the code of the error. */
async function tokenIn(header: string | null): Promise<string> {
  const app = new Hono().get("/", (c) => c.text(bearerToken(c)));
  app.onError((error, c) => c.text(error instanceof ApiError ? error.code : "another error"));
  const response = await app.request("/", { headers: header === null ? {} : { Authorization: header } });
  return response.text();
}

test.each(["Bearer ply_1", "bearer ply_1", "BEARER   ply_1", "Bearer ply_1  "])(
  "the token of %j is read",
  async (header) => {
    expect(await tokenIn(header)).toBe("ply_1");
  },
);

test.each([null, "", "Bearer", "Bearer ", "Basic ply_1", "ply_1", "Bearer one two", "xBearer ply_1", "Bearerply_1"])(
  "the header %j has no token",
  async (header) => {
    expect(await tokenIn(header)).toBe("missing_authorization");
  },
);
