import { configured, type Variable } from "../platform/config.ts";
import { type Before, before } from "./before.ts";

/** Responds with 503 while a variable is missing or malformed. Must come before authentication. */
export function needs(...names: Variable[]): Before<{ Bindings: Env }> {
  return before((c) => {
    for (const name of names) configured(c.env, name);
    return undefined;
  });
}
