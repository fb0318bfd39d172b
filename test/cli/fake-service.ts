import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { close, type Fields, listen, readBody } from "../support/fake-server.ts";

interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  body: Fields;
  token: string;
}

export const ADMIN_TOKEN = "operators-token";

/** A server on this machine that is closed after the test. */
export async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
  port = 0,
): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => void answer(request, response));
  const url = await listen(server, port);
  onTestFinished(() => (server.listening ? close(server) : undefined));
  return { server, url };
}

/** A service that answers every request with one body. */
export async function fakeService(body: object, status = 200) {
  const asked: Asked[] = [];
  const { url } = await serve(async (request, response) => {
    const { pathname: path, searchParams } = new URL(request.url ?? "", "http://localhost");
    const token = request.headers.authorization ?? "";
    const query = Object.fromEntries(searchParams);
    asked.push({ method: request.method ?? "", path, query, body: (await readBody(request)).body, token });
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  });
  return { url, asked };
}
