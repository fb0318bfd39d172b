import * as z from "zod/mini";
import { configured } from "../config.ts";
import { ApiError } from "../http/errors.ts";
import { atMost } from "../http/fields.ts";
import { isSameSecret } from "../secrets/compare.ts";
import type { ConsoleContext } from "./context.ts";
import { beginSession } from "./session.ts";

/** The body of `POST /console/session`. */
export const signInBody = z.object({ token: z.string().check(...atMost(1_000)) });

/** Begins a session. @throws ApiError `wrong_token` */
export async function startSession(c: ConsoleContext, { token }: z.output<typeof signInBody>): Promise<void> {
  if (!(await isSameSecret(token, configured(c.env, "ADMIN_TOKEN")))) throw new ApiError("wrong_token");
  await beginSession(c, { kind: "operator", email: null });
}
