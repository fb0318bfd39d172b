import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type WebhookReceiver, webhookReceiver } from "../../support/webhook-receiver.ts";
import { DevServer } from "../../support/world/dev-server.ts";
import { type FakeNetwork, fakeTelegram, fakeWhatsApp } from "./network.ts";
import type { Force, Row } from "./storm.ts";

const WORKER = "test/deep/storm/worker";
const ENTRY = 'main = "src/index.ts"';
const root = new URL("../../..", import.meta.url).pathname;

/** A server, and what it calls: the two networks, and receivers of webhooks. */
export interface Ground {
  server: DevServer;
  telegram: FakeNetwork;
  whatsapp: FakeNetwork;
  receiver: WebhookReceiver;
  end(): Promise<void>;
}

/** A part of `npm run test:long -- storm`. */
export type Storm = (force: Force, ground: Ground) => Promise<Row[]>;

export async function beginGround(): Promise<Ground> {
  const [telegram, whatsapp] = [await fakeTelegram(), await fakeWhatsApp()];
  const server = await DevServer.begin({
    vars: { ...telegram.vars, ...whatsapp.vars, WEBHOOKS_ALLOW_LOCAL: "true" },
    prepare: useStormWorker,
  });
  for (const network of [telegram, whatsapp]) network.server = server;
  const receiver = await webhookReceiver();
  return {
    server,
    telegram,
    whatsapp,
    receiver,
    async end() {
      await server.end();
      await Promise.all([telegram, whatsapp, receiver].map((each) => each.close()));
    },
  };
}

/** Runs a storm on a ground of its own. */
export async function alone(storm: Storm, force: Force): Promise<Row[]> {
  const ground = await beginGround();
  try {
    return await storm(force, ground);
  } finally {
    await ground.end();
  }
}

/** Makes a copy of the checkout run the storms' Worker. */
async function useStormWorker(folder: string): Promise<void> {
  await cp(join(root, WORKER), join(folder, WORKER), { recursive: true });
  const path = join(folder, "wrangler.toml");
  const text = await readFile(path, "utf8");
  if (!text.includes(ENTRY)) throw new Error(`${path} has no ${ENTRY}`);
  await writeFile(path, text.replace(ENTRY, `main = "${WORKER}/index.ts"`));
}
