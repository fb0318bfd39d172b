import { createReadStream } from "node:fs";
import { createServer, type IncomingMessage, request as requestTo, type Server, type ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { close, listen } from "../fake-server.ts";

const PAGES = new URL("../../../dist/web/", import.meta.url).pathname;
/** The address of the caller, as Cloudflare's front tells it. */
const ADDRESS = "203.0.113.7";
const SECURE = { "X-Content-Type-Options": "nosniff" };
const ASSETS: Record<string, [file: string, headers: Record<string, string>]> = {
  "/docs": [
    "docs.html",
    { ...SECURE, "Content-Type": "text/html", "Content-Security-Policy": "default-src 'none'; script-src 'self'" },
  ],
  "/widget.js": ["widget.js", { ...SECURE, "Content-Type": "text/javascript", "Access-Control-Allow-Origin": "*" }],
};

export interface FrontOptions {
  /** The service's origin. */
  target: URL | string;
  /** Answers a request in place of the service, if it returns true. */
  answers?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** What `/healthz` says of the build, at each look. */
  build?: (look: number) => string | null;
  /** Gets the connection of each response that begins, to cut it. */
  onResponse?: (request: IncomingMessage, response: ServerResponse) => void;
  /** A frame that comes through each socket before the service's own. */
  firstFrame?: Uint8Array;
}

/** What stands before a deployed service: it has the pages, names the caller's address, and passes on the rest. */
export class Front {
  readonly url: string;
  /** The paths that were asked, with their methods, in order. */
  readonly asked: string[] = [];
  readonly #server: Server;

  private constructor(server: Server, url: string, asked: string[]) {
    this.#server = server;
    this.url = url;
    this.asked = asked;
  }

  static async begin(options: FrontOptions): Promise<Front> {
    const asked: string[] = [];
    let looks = 0;
    const server = createServer((request, response) => {
      const path = (request.url ?? "").split("?")[0] ?? "";
      asked.push(`${request.method} ${path}`);
      options.onResponse?.(request, response);
      if (options.answers?.(request, response)) return;
      const asset = ASSETS[path];
      if (asset) return void createReadStream(`${PAGES}${asset[0]}`).pipe(response.writeHead(200, asset[1]));
      if (path === "/cdn-cgi/trace") return void response.end(`fl=1\nip=${ADDRESS}\n`);
      if (path === "/healthz" && options.build) return void health(options, options.build(looks++), response);
      pass(options.target, request, response);
    });
    server.on("upgrade", (request: IncomingMessage, socket, head: Buffer) => {
      asked.push(`UPGRADE ${(request.url ?? "").split("?")[0]}`);
      const { hostname, port } = new URL(options.target);
      const upstream = connect(Number(port), hostname, () => {
        const headers = Object.entries({ ...request.headers, "cf-connecting-ip": ADDRESS });
        upstream.write(
          `GET ${request.url} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${String(value)}\r\n`).join("")}\r\n`,
        );
        upstream.write(head);
        socket.pipe(upstream);
        if (options.firstFrame) insertAfterHead(upstream, socket, options.firstFrame);
        else upstream.pipe(socket);
      });
      for (const [one, other] of [
        [socket, upstream],
        [upstream, socket],
      ] as const) {
        one.on("error", () => other.destroy());
        one.on("close", () => other.destroy());
      }
    });
    return new Front(server, await listen(server, 0), asked);
  }

  end(): Promise<void> {
    return close(this.#server);
  }
}

/** Passes on a socket's response with some bytes between its head and the frames. */
function insertAfterHead(from: Duplex, to: Duplex, bytes: Uint8Array): void {
  let head = Buffer.alloc(0);
  from.on("data", function collect(chunk: Buffer) {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n") + 4;
    if (end < 4) return;
    from.off("data", collect);
    to.write(Buffer.concat([head.subarray(0, end), bytes, head.subarray(end)]));
    from.pipe(to);
  });
}

/** The service's own `/healthz`, as that of a deployed version. */
async function health({ target }: FrontOptions, build: string | null, response: ServerResponse): Promise<void> {
  const body = (await (await fetch(new URL("/healthz", target))).json()) as object;
  response.writeHead(200, { "Content-Type": "application/json" });
  response.end(JSON.stringify("version" in body ? { ...body, build } : body));
}

function pass(target: URL | string, request: IncomingMessage, response: ServerResponse): void {
  const { method } = request;
  const headers = { ...request.headers, "cf-connecting-ip": ADDRESS };
  // A connection of its own: the service closes a silent one, perhaps while the next request is on its way.
  const upstream = requestTo(new URL(request.url ?? "", target).href, { method, headers, agent: false }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
    answer.on("error", () => response.destroy());
  });
  upstream.on("error", () => response.destroy());
  response.on("close", () => upstream.destroy());
  request.pipe(upstream);
}
