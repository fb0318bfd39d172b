import { createHash } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { makeLate } from "../jitter/late-server.ts";

export type Fields = Record<string, unknown>;

/** A field's text, or "" if it is not a text. */
export function textIn(body: Fields, field: string): string {
  const value = body[field];
  return typeof value === "string" ? value : "";
}

/** A file that a form brought, and the field that it was. */
export interface ReceivedFile {
  field: string;
  name: string;
  type: string;
  size: number;
  sha256: string;
}

/** What a request says: JSON, or a form with at most one file. */
export async function readBody(request: IncomingMessage): Promise<{ body: Fields; file: ReceivedFile | null }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  if (type.startsWith("multipart/form-data")) {
    // The networks refuse a form without a length.
    if (Number(request.headers["content-length"]) !== bytes.length) throw new Error("a form without a length");
    return readForm(await new Response(bytes, { headers: { "Content-Type": type } }).formData());
  }
  const text = bytes.toString();
  return { body: text === "" ? {} : (JSON.parse(text) as Fields), file: null };
}

async function readForm(form: FormData): Promise<{ body: Fields; file: ReceivedFile | null }> {
  const body: Fields = {};
  let file: ReceivedFile | null = null;
  for (const [field, value] of form) {
    if (typeof value === "string") body[field] = value;
    else file = { field, name: value.name, type: value.type, ...(await digestOf(value)) };
  }
  return { body, file };
}

async function digestOf(file: Blob) {
  const sha256 = createHash("sha256")
    .update(Buffer.from(await file.arrayBuffer()))
    .digest("hex");
  return { size: file.size, sha256 };
}

/** Listens on the given port, or a free one for 0. Returns the server's URL. */
export async function listen(server: Server, port: number): Promise<string> {
  makeLate(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
