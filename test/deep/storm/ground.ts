import { DevServer } from "../../support/world/dev-server.ts";
import { Directory, useStormWorker } from "./directory.ts";
import { type FakeNetwork, fakeTelegram, fakeWhatsApp } from "./network.ts";
import type { Force, Row } from "./storm.ts";

/** A server, its D1, and the two networks that it calls. */
export interface Ground {
  server: DevServer;
  directory: Directory;
  telegram: FakeNetwork;
  whatsapp: FakeNetwork;
  end(): Promise<void>;
}

/** A part of `npm run test:storm`. */
export type Storm = (force: Force, ground: Ground) => Promise<Row[]>;

export async function beginGround(): Promise<Ground> {
  const [telegram, whatsapp] = [await fakeTelegram(), await fakeWhatsApp()];
  const server = await DevServer.begin({
    vars: { ...telegram.vars, ...whatsapp.vars },
    prepare: useStormWorker,
  });
  for (const network of [telegram, whatsapp]) network.server = server;
  return {
    server,
    directory: new Directory(server.base),
    telegram,
    whatsapp,
    async end() {
      await server.end();
      await Promise.all([telegram, whatsapp].map((network) => network.close()));
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
