import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import { close, type Fields, listen, readBody } from "../support/fake-server.ts";
import { copyCheckout } from "./checkout.ts";

interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  body: Fields;
  token: string;
}

const folder = await mkdtemp(join(tmpdir(), "parley-fake-"));
await copyCheckout(folder);
afterAll(() => rm(folder, { recursive: true }));

const BIN = join(folder, "checkout", "src", "cli", "parley", "bin.js");
export const ADMIN_TOKEN = "operators-token";
export const API_KEY = `ply_${"a".repeat(54)}`;

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

/** A folder for a user's configuration. */
export async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "parley-home-"));
  onTestFinished(() => rm(home, { recursive: true }));
  return home;
}

/** Begins `parley` with an API key and an environment of its own. */
export function begin(argv: readonly string[], env: Record<string, string>): ChildProcess {
  const own = { PATH: process.env.PATH, PARLEY_API_KEY: API_KEY, ...env };
  const child = spawn(process.execPath, ["--no-warnings", BIN, ...argv], { env: own as unknown as NodeJS.ProcessEnv });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Runs `parley` to its end. */
export async function run(argv: readonly string[], env: Record<string, string>) {
  const child = begin(argv, env);
  const ran = { code: null as number | null, stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (ran.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (ran.stderr += text));
  child.stdin?.end();
  [ran.code] = (await once(child, "close")) as [number];
  return ran;
}
