import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Random } from "../../support/random.ts";

/** Each connection is cut this long after the server's first word, in the middle of whatever it carries. */
const LIFE_MS = { least: 1_000, most: 3_000 };

/** A way to a server on which no connection lasts. */
export interface BrittleLine {
  /** `127.0.0.1:<port>`. */
  host: string;
  cuts: number;
  close(): Promise<void>;
}

export async function brittleLine(to: string, random: Random): Promise<BrittleLine> {
  const { hostname: host, port } = new URL(to);
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ host, port: Number(port), noDelay: true });
    const cut = () => {
      clearTimeout(timer);
      for (const end of [near, far]) {
        open.delete(end);
        end.destroy();
      }
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    far.once("data", () => {
      const last = () => {
        self.cuts++;
        cut();
      };
      timer = setTimeout(last, random.between(LIFE_MS.least, LIFE_MS.most));
    });
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on("data", (bytes) => into.write(bytes)).on("error", cut);
      from.on("close", cut);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const self: BrittleLine = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: 0,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return self;
}
