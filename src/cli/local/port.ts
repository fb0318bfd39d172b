import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { CommandError, reasonOf } from "../command-error.ts";

/**
 * The port to serve on: the one asked for, or a free one for 0.
 * @throws CommandError when another process has it
 */
export async function freePort(port: number, ip: string): Promise<number> {
  // curl tries ::1 first for localhost: a stranger there would get what is meant for us.
  const addresses = ip === "localhost" ? ["127.0.0.1", "::1"] : [ip === "*" ? "0.0.0.0" : ip];
  let free = port;
  for (const address of addresses) free = (await tryPort(free, address)) ?? free;
  return free;
}

/** Where a client on this machine reaches a server that listens on `ip`. */
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
        `Port ${port} is in use; stop what listens there, or choose another: npm start -- --port 9000`,
      );
    }
    if (code === "EACCES") throw new CommandError(`Port ${port} needs rights that this user does not have.`);
    // A machine without IPv6 has no ::1 to be in use.
    if (host === "::1") return null;
    throw new CommandError(`${host} can't be listened on: ${reasonOf(error)}.`);
  } finally {
    server.close();
  }
}
