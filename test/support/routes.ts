import { app } from "../../src/app.ts";

/** The method and path of every registered route below a prefix, each once. */
export function routesBelow(prefix: string): [method: string, path: string][] {
  const routes = app.routes.filter(({ method, path }) => method !== "ALL" && path.startsWith(prefix));
  const names = new Set(routes.map(({ method, path }) => `${method} ${path}`));
  return [...names].map((name) => name.split(" ") as [string, string]);
}

/** The same as the documents and the guides write them, such as `GET /api/v1/chats/{id}`, sorted. */
export function routeNamesBelow(prefix: string): string[] {
  return routesBelow(prefix)
    .map(([method, path]) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`)
    .sort();
}

const PREFIXES: Record<string, string> = {
  organizations: "org",
  members: "mbr",
  channels: "chn",
  templates: "tpl",
  replies: "rpl",
  labels: "lbl",
  chats: "cht",
  messages: "msg",
  notes: "note",
  events: "evt",
  keys: "key",
  webhooks: "whk",
  replays: "rpl",
};

/** A route's path with well-formed ids that don't exist. */
export function withUnknownIds(path: string): string {
  return path.replace(/(\w+)\/:\w+/g, (_, plural: string) => `${plural}/${PREFIXES[plural]}_gaaaaaaaaaaaaaaa`);
}
