import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DevServer } from "../../support/world/dev-server.ts";
import { answerOf, type Service } from "../../support/world/service.ts";
import type { Ask } from "./fixtures.ts";

type LocalService = Pick<Service, "url" | "secrets" | "called" | "stop">;

/** The server of `npm start`, on a copy of the checkout: requests pass the proxy of `wrangler dev`. */
export async function startLocalServer(): Promise<LocalService> {
  const network = createServer((request, response) => {
    request.resume();
    const answer = answerOf(request.url ?? "");
    void answer.text().then((text) => response.writeHead(answer.status, [...answer.headers].flat()).end(text));
  }).listen(0, "127.0.0.1");
  await once(network, "listening");
  const base = `http://127.0.0.1:${(network.address() as AddressInfo).port}`;
  const server = await DevServer.begin({
    vars: { TELEGRAM_API_BASE: base, WHATSAPP_API_BASE: base },
    prepare: liftLimit,
  });
  return {
    url: new URL(server.base),
    secrets: server.secrets,
    called: new Set(),
    stop: async () => {
      await server.end();
      network.closeAllConnections();
      network.close();
    },
  };
}

/**
 * A request that the proxy of `wrangler dev` can pass on: it answers an upgrade by any method but GET with a 500 of its
 * own, before the Worker hears of the request.
 */
export function proxied(method: string, { headers, body }: Parameters<Ask>[2]): Parameters<Ask>[2] {
  if (method === "GET") return { headers, body };
  const { Upgrade: _, ...others } = headers;
  return { headers: others, body };
}

/** All requests come from one address, and many of them fail to authenticate. */
async function liftLimit(folder: string): Promise<void> {
  const config = join(folder, "wrangler.toml");
  const text = await readFile(config, "utf8");
  const lifted = text.replace(/simple = \{ limit = \d+,/, "simple = { limit = 1_000_000_000,");
  if (lifted === text) throw new Error("wrangler.toml has no limit to lift");
  await writeFile(config, lifted);
}
