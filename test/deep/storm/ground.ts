import { type WebhookReceiver, webhookReceiver } from "../../support/webhook-receiver.ts";
import { DevServer } from "../../support/world/dev-server.ts";
import { Directory, useStormWorker } from "./directory.ts";
import { type FakeNetwork, fakeTelegram, fakeWhatsApp } from "./network.ts";
import type { Force, Row } from "./storm.ts";

/** A server, its D1, and what it calls: the two networks, and receivers of webhooks. */
export interface Ground {
  server: DevServer;
  directory: Directory;
  telegram: FakeNetwork;
  whatsapp: FakeNetwork;
  receiver: WebhookReceiver;
  end(): Promise<void>;
}

/** A part of `npm run test:storm`. */
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
    directory: new Directory(server.base),
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
