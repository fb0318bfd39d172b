import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { CommandError, reasonOf } from "../command-error.ts";

/** Checks that a port is free, or finds a free one for port 0. @throws CommandError if another process uses it */
export async function freePort(port: number, ip: string): Promise<number> {
  // curl tries ::1 first for localhost, so no other process may listen there either.
  const addresses = ip === "localhost" ? ["127.0.0.1", "::1"] : [ip === "*" ? "0.0.0.0" : ip];
  let free = port;
  for (const address of addresses) free = (await tryPort(free, address)) ?? free;
  return free;
}

/** The address at which clients on this machine reach a server that listens on `ip`. */
export function baseUrl(port: number, ip: string): string {
  const everywhere = ["*", "0.0.0.0", "::"].includes(ip);
  return `http://${everywhere ? "localhost" : ip.includes(":") ? `[${ip}]` : ip}:${port}`;
}

async function tryPort(port: number, host: string): Promise<number | null> {
  const server = createServer();
  try {
    server.listen({ port, host });
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      throw new CommandError(
        `Port ${port} is in use. Stop the other program, or choose another port: npm start -- --port 9000`,
      );
    }
    if (code === "EACCES") throw new CommandError(`This user has no permission to use port ${port}.`);
    // A machine without IPv6 has no ::1.
    if (host === "::1") return null;
    throw new CommandError(`Can't listen on ${host}: ${reasonOf(error)}.`);
  } finally {
    server.close();
  }
}
