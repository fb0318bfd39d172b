import type { Context } from "hono";
import type { AdminEnv } from "../keys/operator-guard.ts";
import type { Claims } from "../model/session.ts";
import type { Person } from "./people.ts";

/** The context of the console's routes. `claims` and `person` are set below `/console/api` alone. */
export type ConsoleEnv = {
  Bindings: Env;
  Variables: AdminEnv["Variables"] & { claims: Claims; person: Person };
};
export type ConsoleContext = Context<ConsoleEnv>;
