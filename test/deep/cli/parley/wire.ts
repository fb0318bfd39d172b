import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { lastingPort } from "../../../support/world/lasting-port.ts";

/** A wire to a service, which can be cut and mended. */
export class Wire {
  readonly #to: URL;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #port = 0;

  constructor(to: string) {
    this.#to = new URL(to);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async mend(): Promise<void> {
    if (this.#port === 0) this.#port = await lastingPort();
    const server = createServer((near) => {
      const far = connect(Number(this.#to.port), this.#to.hostname);
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on("error", () => {}).on("close", () => this.#sockets.delete(socket));
      }
      near.pipe(far).pipe(near);
    }).listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#server = server;
  }

  async cut(): Promise<void> {
    const server = this.#server;
    for (const socket of this.#sockets) socket.destroy();
    if (!server) return;
    this.#server = null;
    server.close();
    await once(server, "close");
  }
}
