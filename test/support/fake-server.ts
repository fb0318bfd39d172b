import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";

export type Fields = Record<string, unknown>;

/** A field's text, or "" if it is not a text. */
export function textIn(body: Fields, field: string): string {
  const value = body[field];
  return typeof value === "string" ? value : "";
}

export async function readBody(request: IncomingMessage): Promise<Fields> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  return text === "" ? {} : (JSON.parse(text) as Fields);
}

/** Listens on the given port, or a free one for 0. Returns the server's URL. */
export async function listen(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
