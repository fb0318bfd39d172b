import { ownManagementRoutes } from "../api/organization-api.ts";
import { chatRoutes } from "../chats/routes.ts";
import { eventRoutes } from "../events/routes.ts";
import { ownKeyRoutes } from "../keys/routes.ts";
import { mcpRoutes } from "../mcp/routes.ts";
import type { Need } from "../model/permission.ts";
import { searchRoutes } from "../search/routes.ts";

/** What each route of keys needs, from its permission line, by `get /chats/{id}`. */
const NEEDS = new Map<string, Need | null>();

for (const { routes } of [ownKeyRoutes, chatRoutes, searchRoutes, eventRoutes, ownManagementRoutes, mcpRoutes]) {
  for (const { method, path, handler } of routes) {
    const { need } = handler as { need?: Need | null };
    if (need !== undefined) NEEDS.set(`${method.toLowerCase()} ${path.replace(/:(\w+)/g, "{$1}")}`, need);
  }
}

/** The permission that a key needs for a route. Null: none. */
export function needOf(method: string, path: string): Need | null {
  const need = NEEDS.get(`${method} ${path}`);
  if (need === undefined) throw new Error(`${method} ${path} has no permission line`);
  return need;
}
