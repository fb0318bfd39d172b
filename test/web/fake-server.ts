import { createHmac, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { type WebSocket, WebSocketServer } from "ws";
import { chatPage, chatPageHeaders } from "../../src/channels/web/page.ts";
import type { ChatMessage, ClientFrame, MessageStatus, ServerFrame } from "../../src/web/frames.ts";

const PAGE = 100;
const IDENTITY_SECRET = "a secret of the fake server";
const TYPES: Record<string, string> = { ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8" };

/** A chat of one visitor: what is stored, and the sockets that are open. */
class FakeChat {
  readonly chatId = `cht_${randomUUID()}`;
  readonly messages: ChatMessage[] = [];
  readonly sockets = new Set<WebSocket>();
  readonly #stored = new Map<string, number>();

  add(part: Pick<ChatMessage, "direction" | "content"> & Partial<ChatMessage>): ChatMessage {
    const status: MessageStatus = part.direction === "INBOUND" ? "RECEIVED" : "SENT";
    const fixed = { seq: this.messages.length + 1, type: "TEXT", mediaUrl: null, status } as const;
    const message = { ...fixed, text: part.content, createdAt: new Date().toISOString(), ...part };
    this.messages.push(message);
    return message;
  }

  open(socket: WebSocket, after: number): void {
    this.sockets.add(socket);
    socket.on("close", () => this.sockets.delete(socket));
    socket.on("message", (data: Buffer) => this.#receive(socket, JSON.parse(data.toString()) as ClientFrame));
    const messages = this.messages.slice(after, after + PAGE);
    const lastSeq = this.messages.length;
    const hasMore = after + messages.length < lastSeq;
    send(socket, { type: "ready", chatId: lastSeq > 0 ? this.chatId : null, messages, hasMore, lastSeq });
  }

  broadcast(frame: ServerFrame, but?: WebSocket): void {
    for (const socket of this.sockets) if (socket !== but) send(socket, frame);
  }

  #receive(socket: WebSocket, frame: ClientFrame): void {
    if (frame.type === "ping") send(socket, { type: "pong" });
    else if (frame.type === "message") this.#store(socket, frame.id, frame.content);
    else this.#acknowledge(frame.seq, frame.type === "read" ? "READ" : "DELIVERED");
  }

  #acknowledge(upTo: number, status: MessageStatus): void {
    for (const message of this.messages.slice(0, upTo)) {
      if (message.direction === "INBOUND" || message.status === "READ" || message.status === status) continue;
      message.status = status;
      this.broadcast({ type: "status", seq: message.seq, status });
    }
  }

  #store(socket: WebSocket, id: string, content: string): void {
    let seq = this.#stored.get(id);
    if (seq === undefined) {
      const message = this.add({ direction: "INBOUND", content });
      seq = message.seq;
      this.#stored.set(id, seq);
      this.broadcast({ type: "message", message }, socket);
    }
    send(socket, { type: "stored", id, messageId: `msg_${seq}`, seq } as ServerFrame);
  }
}

/** A server of the page and the visitors' socket as the contract describes them, in memory and without limits. */
export class FakeServer {
  readonly channelId = "chn_g0123456789abcde";
  readonly name = "Acme support";
  readonly #chats = new Map<string, FakeChat>();
  readonly #assets: string;
  readonly #sockets = new WebSocketServer({ noServer: true, handleProtocols: () => "parley.v1" });
  readonly #http = createServer((request, response) => void this.#answer(request, response));

  constructor(assets: string) {
    this.#assets = assets;
    this.#http.on("upgrade", (request, socket, head) => {
      this.#sockets.handleUpgrade(request, socket, head, (opened) => this.#open(opened, request));
    });
  }

  async listen(port = 0): Promise<string> {
    await new Promise<void>((resolve) => this.#http.listen(port, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** The chat of a user whom the embedding site names. */
  chatOf(user: string): FakeChat {
    return this.#chat(`user.${user}`);
  }

  hashOf(user: string): string {
    return createHmac("sha256", IDENTITY_SECRET).update(user).digest("hex");
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  #chat(address: string): FakeChat {
    const chat = this.#chats.get(address) ?? new FakeChat();
    this.#chats.set(address, chat);
    return chat;
  }

  #open(socket: WebSocket, request: IncomingMessage): void {
    const url = new URL(request.url ?? "", "http://localhost");
    const after = Number(url.searchParams.get("after"));
    const identity = (request.headers["sec-websocket-protocol"] ?? "").split(/, ?/)[1] ?? "";
    const [kind, who = "", hash] = identity.split(".");
    const user = Buffer.from(who, "base64url").toString();
    if (url.pathname !== `/web/${this.channelId}/socket`) socket.close(4404);
    else if (kind === "token") this.#chat(identity).open(socket, after);
    else if (hash !== this.hashOf(user)) socket.close(4401);
    else this.chatOf(user).open(socket, after);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", `http://${request.headers.host}`);
    if (url.pathname.startsWith("/web/")) {
      const channelId = url.pathname.slice("/web/".length);
      response.writeHead(200, chatPageHeaders(url, [])).end(chatPage({ channelId, name: this.name }));
      return;
    }
    const body = await readFile(join(this.#assets, url.pathname)).catch(() => null);
    const type = TYPES[extname(url.pathname)] ?? "application/octet-stream";
    response.writeHead(body ? 200 : 404, { "Content-Type": type }).end(body ?? "");
  }
}

function send(socket: WebSocket, frame: ServerFrame | object): void {
  socket.send(JSON.stringify(frame));
}
