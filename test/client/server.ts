import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { Parley, type ParleyOptions } from "../../src/client/parley.ts";
import { close, listen } from "../support/fake-server.ts";

export interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingMessage["headers"];
  body: string;
}

type Answer = (response: ServerResponse, asked: Asked) => void | Promise<void>;

/** A client of a server on this machine that answers as told, one answer for each request. The last one repeats. */
export async function clientOf(answers: Answer[], options: Partial<ParleyOptions> = {}) {
  const asked: Asked[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
    const { pathname: path, searchParams } = new URL(request.url ?? "", "http://localhost");
    const { method = "", headers } = request;
    const each = { method, path, query: Object.fromEntries(searchParams), headers, body };
    asked.push(each);
    await answers[Math.min(asked.length, answers.length) - 1]?.(response, each);
  };
  const server = createServer((request, response) => void answer(request, response));
  const url = await listen(server, 0);
  onTestFinished(() => close(server));
  return { parley: new Parley({ url, apiKey: "ply_test", ...options }), asked, url, server };
}

export function json(status: number, body: object, headers: Record<string, string> = {}): Answer {
  return (response) => {
    const text = JSON.stringify(body);
    response.writeHead(status, { "Content-Type": "application/json", "X-Request-Id": "req-1", ...headers }).end(text);
  };
}

/** Closes the connection without an answer. */
export const cut: Answer = (response) => void response.destroy();

/** Closes the connection inside the answer's body. */
export const cutInside: Answer = (response) => {
  response.writeHead(201, { "Content-Type": "application/json", "Content-Length": "500" });
  response.write('{"message":{"id":', () => response.destroy());
};
