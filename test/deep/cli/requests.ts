import { writeProfiles } from "../../../src/cli/parley/profiles.ts";
import { fakeService } from "../../cli/fake-service.ts";
import { API_KEY, newHome, run } from "./command.ts";

/** The environment of a client. */
export const BY_KEY = { PARLEY_API_KEY: API_KEY };

const KEY = { id: "key_g1", name: "Shop", permissions: ["chats:read"] };
/** What a service answers that has one key, and nothing else. */
export const LISTS = {
  keys: [KEY],
  channels: [],
  webhooks: [],
  templates: [],
  replies: [],
  labels: [],
  members: [],
  pagination: { totalPages: 1 },
};

/** The requests that a command makes, as a client or as the operator. */
export async function requestsOf(argv: readonly string[], tokens: Record<string, string>, answer: object = {}) {
  const { url, asked } = await fakeService({ ...LISTS, ...answer, key: KEY, secret: "ply_x", usage: { used: 1 } });
  const home = await newHome();
  // With a profile, the secrets of the checkout's own service don't count.
  await writeProfiles(`${home}/parley/profiles.json`, { default: { url, apiKey: API_KEY } });
  const ran = await run([...argv], { PARLEY_URL: url, XDG_CONFIG_HOME: home, ...tokens });
  return {
    ...ran,
    asked: asked.map(({ method, path, query, body, token }) => [method, withQuery(path, query), body, token]),
  };
}

function withQuery(path: string, query: Record<string, string>): string {
  return Object.keys(query).length > 0 ? `${path}?${new URLSearchParams(query).toString()}` : path;
}
