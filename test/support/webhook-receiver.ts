import { createServer, type IncomingMessage, type Server } from "node:http";
import { Webhook } from "standardwebhooks";
import { close, listen } from "./fake-server.ts";

/** An event as a receiver gets it. */
interface ReceivedEvent {
  id: string;
  type: string;
  chatId: string | null;
  number: number | null;
  previous: number | null;
  // biome-ignore lint/suspicious/noExplicitAny: the data depends on the type
  data: any;
}

/** A call of a webhook. */
export interface ReceivedCall {
  event: ReceivedEvent;
  /** 1 for the first call of an event. */
  attempt: number;
  /** The status that it was answered; 0 without an answer. */
  status: number;
  /** The number of the server's start that made it, as the storms' Worker says it; else 1. */
  life: number;
  /** As of `performance.now()`: when it came. */
  at: number;
}

/** What a call is answered: a status; `drop` closes the connection. */
type Answering = number | "drop";

/** A receiver of webhooks, behind one URL. It records each call in the order of arrival. */
export interface Endpoint {
  url: string;
  /** The webhook's secret. Without it, no signature is verified. */
  secret: string | null;
  calls: ReceivedCall[];
  /** What is wrong with calls' signatures. */
  forged: string[];
  answer: (event: ReceivedEvent, attempt: number) => Answering;
  /** Runs for each call when it came. */
  onCall: ((call: ReceivedCall) => void) | null;
}

/** An HTTP server on this machine with receivers of webhooks. */
export interface WebhookReceiver {
  /** A receiver with a URL of its own. It answers 200. */
  endpoint(): Endpoint;
  close(): Promise<void>;
}

/** The header with the number of the server's start. A call may arrive after the server that made it was killed. */
const LIFE_HEADER = "storm-life";

export async function webhookReceiver(): Promise<WebhookReceiver> {
  const endpoints = new Map<string, Endpoint>();
  const server: Server = createServer((request, response) => {
    const at = performance.now();
    const endpoint = endpoints.get(request.url ?? "");
    // A connection that breaks while the body comes is no call.
    void bodyOf(request).then((body) => {
      if (!endpoint || body === null) return response.destroy();
      const event = JSON.parse(body) as ReceivedEvent;
      const attempt = Number(request.headers["parley-attempt"]);
      const fault = faultOf(endpoint, event, body, request.headers as Record<string, string>);
      if (fault) endpoint.forged.push(fault);
      const answering = endpoint.answer(event, attempt);
      const status = typeof answering === "number" ? answering : 0;
      const call: ReceivedCall = { event, attempt, status, life: Number(request.headers[LIFE_HEADER] ?? 1), at };
      endpoint.calls.push(call);
      endpoint.onCall?.(call);
      if (answering === "drop") return response.destroy();
      return response.writeHead(answering).end();
    });
  });
  const base = await listen(server, 0);
  // It does not keep a process alive that has nothing else to do.
  server.unref();
  return {
    endpoint() {
      const path = `/hook-${endpoints.size + 1}`;
      const endpoint: Endpoint = {
        url: `${base}${path}`,
        secret: null,
        calls: [],
        forged: [],
        answer: () => 200,
        onCall: null,
      };
      endpoints.set(path, endpoint);
      return endpoint;
    },
    close: () => close(server),
  };
}

/** Null if the connection broke. */
async function bodyOf(request: IncomingMessage): Promise<string | null> {
  let body = "";
  try {
    for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
  } catch {
    return null;
  }
  return body;
}

/** What is wrong with a call's signature or id. `standardwebhooks` verifies, which nobody here wrote. */
function faultOf(
  { secret }: Endpoint,
  { id }: ReceivedEvent,
  body: string,
  headers: Record<string, string>,
): string | null {
  if (headers["webhook-id"] !== id) return `${id}: the header has the id ${headers["webhook-id"]}`;
  if (secret === null) return null;
  try {
    new Webhook(secret).verify(body, headers);
    return null;
  } catch (error) {
    return `${id}: ${String(error)}`;
  }
}
