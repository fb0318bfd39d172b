import { DevServer } from "../support/world/dev-server.ts";
import { type FakeNetwork, fakeTelegram, fakeWhatsApp } from "./network.ts";
import type { Force, Row } from "./storm.ts";

/** A server and the two networks that it knows: what a storm runs on, alone or after another one. */
export interface Ground {
  server: DevServer;
  telegram: FakeNetwork;
  whatsapp: FakeNetwork;
  end(): Promise<void>;
}

/** A storm that leaves its ground as it found it, but for what it stored. */
type GroundTest = (force: Force, ground: Ground) => Promise<Row[]>;

export async function beginGround(): Promise<Ground> {
  const [telegram, whatsapp] = [await fakeTelegram(), await fakeWhatsApp()];
  const server = await DevServer.begin({ vars: { ...telegram.vars, ...whatsapp.vars } });
  for (const network of [telegram, whatsapp]) network.server = server;
  return {
    server,
    telegram,
    whatsapp,
    async end() {
      await server.end();
      await Promise.all([telegram, whatsapp].map((network) => network.close()));
    },
  };
}

/** The storm, on a ground of its own. */
export function alone(test: GroundTest): (force: Force) => Promise<Row[]> {
  return async (force) => {
    const ground = await beginGround();
    try {
      return await test(force, ground);
    } finally {
      await ground.end();
    }
  };
}
