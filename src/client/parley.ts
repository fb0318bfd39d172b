import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "../openapi/client/types.ts";
import { ParleyError, responseError } from "./error.ts";
import type { FollowedEvent } from "./event.ts";
import { type EventOptions, type EventSource, followEvents } from "./follow-events.ts";
import { blobOf, type FileLike, type MediaDownload, type MediaOptions, mediaHeaders, mediaOf } from "./media.ts";
import { type RetryOptions, retryingFetch, unreachable } from "./retry.ts";

/** The records and bodies of the API, by their names in the OpenAPI document: `ApiSchemas["Message"]`. */
export type ApiSchemas = components["schemas"];

export interface ParleyOptions extends RetryOptions {
  /** The service's address: `https://parley.example`. */
  url: string;
  /** An API key. Keep it on servers: a key in a page would be public. */
  apiKey: string;
}

export interface SendOptions {
  /** Sends with the same key create one message. A new key by default; give your own if a restart may repeat the send. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

export interface UploadOptions extends SendOptions {
  /** The name that the contact sees. By default that of a `File`. */
  fileName?: string;
  /** By default the type of a `Blob`; without one, the first bytes decide. */
  contentType?: string;
}

export interface ChatListOptions {
  /** A channel's id or kind. */
  channel?: string;
  /** A contact's exact address. */
  contact?: string;
  /** The beginning of a contact's address, or of words of its name. */
  search?: string;
  /** Only the chats whose contact waits for an answer, longest wait first. */
  unanswered?: boolean;
  /** Only the chats with a scheduled message, the next one due first. */
  scheduled?: boolean;
  /** A member's id: only this member's chats; `none`: only nobody's. */
  assignee?: string;
  /** Only the chats in this state. */
  state?: ApiSchemas["Chat"]["state"];
  /** Only the chats that the bot has, or those that people have. */
  handler?: ApiSchemas["Chat"]["handler"];
  /** Only the chats whose contact has this `personId`. */
  person?: string;
  /** A label's id: only the chats with this label. */
  label?: string;
  /** Only the chats whose contact has opted out of marketing. */
  optedOut?: boolean;
  /** A member's id: only the chats with notes that mention this member, newest mention first. */
  mentioned?: string;
}

/** Which messages of a chat. `after` can't be combined with the others. */
export interface MessageListOptions {
  /** A message's id: the messages after it, oldest first. */
  after?: string;
  status?: Exclude<ApiSchemas["Message"]["status"], "SCHEDULED">;
  direction?: ApiSchemas["Message"]["direction"];
  type?: ApiSchemas["Message"]["type"];
  /** A text that the messages contain. */
  search?: string;
}

/** Which messages of all chats. */
export interface MessageSearchOptions {
  /** A text that the messages contain: 2 to 100 characters. */
  search: string;
  /** A channel's id or kind. */
  channel?: string;
  /** A member's id: only messages of this member's chats; `none`: only of nobody's. */
  assignee?: string;
  direction?: ApiSchemas["Message"]["direction"];
  /** Only messages from this time on. RFC 3339. */
  since?: string;
  /** Only messages up to this time. RFC 3339. */
  until?: string;
}

/** A message that a search over all chats found, and its chat. */
export interface FoundMessage {
  message: ApiSchemas["Message"];
  chat: ApiSchemas["FoundChat"];
}

/** Rows that are asked for at once. */
const PAGE = 100;

const YES = "true" as const;

/** As long as the service reads an upload. */
const UPLOAD_MS = 300_000;

/** A client of one organization. Its methods throw ParleyError. */
export class Parley {
  /** Every route, typed by the OpenAPI document, with the same retries. Returns `{ data, error, response }`. */
  readonly api: Client<paths>;
  readonly #source: EventSource;
  readonly #call: (path: string, init: RequestInit, body?: Blob) => Promise<Response>;

  constructor({ url, apiKey, ...retry }: ParleyOptions) {
    const baseUrl = new URL("/api/v1", url).href;
    const headers = { Authorization: `Bearer ${apiKey}` };
    const fetchWithRetries = retryingFetch(retry);
    // A redirect is not followed, because it would send the key to another server.
    this.api = createClient<paths>({ baseUrl, headers, redirect: "manual", fetch: fetchWithRetries });
    const uploadWithRetries = retryingFetch({ ...retry, timeoutMs: Math.max(retry.timeoutMs ?? 0, UPLOAD_MS) });
    this.#call = (path, { signal, ...init }, body) => {
      const all = { ...init, headers: { ...headers, ...(init.headers as Record<string, string>) } };
      const request = new Request(`${baseUrl}${path}`, { ...all, redirect: "manual" });
      const options = signal ? { signal } : {};
      return body ? uploadWithRetries(request, { ...options, body }) : fetchWithRetries(request, options);
    };
    const { fetch: send = (request, init) => fetch(request, init) } = retry;
    const requestOf = (path: string, query: Record<string, string>) =>
      new Request(`${baseUrl}${path}?${new URLSearchParams(query)}`, { headers, redirect: "manual" });
    this.#source = {
      async page(query, signal) {
        const response = await fetchWithRetries(requestOf("/events", query), { signal });
        const body: unknown = await response.json().catch(() => null);
        if (!response.ok) throw responseError(response, body);
        return body as Awaited<ReturnType<EventSource["page"]>>;
      },
      async stream(query, signal) {
        const request = requestOf("/events/stream", query);
        return send(request, { signal }).catch((cause: unknown) => {
          throw signal.aborted ? signal.reason : unreachable(request.url, cause);
        });
      },
    };
  }

  /** Sends a message. A send whose answer is lost is repeated with its Idempotency-Key, so that it creates one message. */
  async send(
    chatId: string,
    message: ApiSchemas["NewMessage"],
    options: SendOptions = {},
  ): Promise<ApiSchemas["Message"]> {
    const { idempotencyKey = crypto.randomUUID(), signal = null } = options;
    const params = { path: { id: chatId }, header: { "Idempotency-Key": idempotencyKey } };
    return dataOf(await this.api.POST("/chats/{id}/messages", { params, body: message, signal })).message;
  }

  /**
   * Hands a chat to people or to its channel's bot. A call whose answer is lost is repeated with its Idempotency-Key, so
   * that it acts once. `message` is null if the act sends none.
   */
  async handOver(
    chatId: string,
    act: ApiSchemas["HandoverRequest"],
    options: SendOptions = {},
  ): Promise<{ chat: ApiSchemas["Chat"]; message: ApiSchemas["Message"] | null }> {
    const { idempotencyKey = crypto.randomUUID(), signal = null } = options;
    const params = { path: { id: chatId }, header: { "Idempotency-Key": idempotencyKey } };
    return dataOf(await this.api.POST("/chats/{id}/handover", { params, body: act, signal }));
  }

  /**
   * Uploads a file of at most 16 MiB, whose `id` a message of the chat sends as its `mediaId`. An upload that is cut is
   * repeated with its Idempotency-Key, so that it stores one file.
   */
  async upload(chatId: string, file: FileLike, options: UploadOptions = {}): Promise<ApiSchemas["Media"]> {
    const { idempotencyKey = crypto.randomUUID(), signal = null } = options;
    const { fileName = "name" in file ? String(file.name) : undefined } = options;
    const body = await blobOf(file);
    const headers = {
      "Idempotency-Key": idempotencyKey,
      "Content-Type": options.contentType ?? (body.type || "application/octet-stream"),
    };
    const query = fileName === undefined ? "" : `?${new URLSearchParams({ fileName })}`;
    const path = `/chats/${encodeURIComponent(chatId)}/media${query}`;
    const response = await this.#call(path, { method: "POST", headers, signal }, body);
    const data = (await response.json().catch(() => null)) as { media: ApiSchemas["Media"] } | null;
    return dataOf({ response, error: data, ...(data && { data }) }).media;
  }

  /** Downloads the file of a message. If its `body` is cut, `from` and `etag` continue where it stopped. */
  async media(chatId: string, messageId: string, options: MediaOptions = {}): Promise<MediaDownload> {
    const path = `/chats/${encodeURIComponent(chatId)}/messages/${encodeURIComponent(messageId)}/media`;
    const { signal = null } = options;
    return mediaOf(await this.#call(path, { headers: mediaHeaders(options), signal }));
  }

  /**
   * The chats, latest activity first: those that the list has when the walk begins, each once, whatever happens to chats
   * meanwhile. A chat that moves to where the walk has been, or comes from there, is left out. `events` reports all.
   */
  async *chats({
    unanswered = false,
    scheduled = false,
    optedOut = false,
    ...filter
  }: ChatListOptions = {}): AsyncGenerator<ApiSchemas["Chat"], void, undefined> {
    const flags = {
      ...(unanswered && { unanswered: YES }),
      ...(scheduled && { scheduled: YES }),
      ...(optedOut && { optedOut: YES }),
    };
    const isNewestFirst = !unanswered && !scheduled && filter.search === undefined;
    for (let cursor: string | undefined; ; ) {
      const from = cursor === undefined ? {} : isNewestFirst ? { before: cursor } : { after: cursor };
      const query = { ...filter, ...flags, limit: PAGE, ...from };
      const { chats, pagination } = dataOf(await this.api.GET("/chats", { params: { query } }));
      yield* chats;
      cursor = pagination.cursor ?? undefined;
      if (cursor === undefined) return;
    }
  }

  /**
   * The messages of a chat: the newest first, or with `after` the messages after that one, oldest first. Each once,
   * also if messages arrive meanwhile. `events` waits for new ones.
   */
  async *messages(
    chatId: string,
    { after, ...filter }: MessageListOptions = {},
  ): AsyncGenerator<ApiSchemas["Message"], void, undefined> {
    const isForward = after !== undefined;
    for (let cursor = after; ; ) {
      const from = cursor === undefined ? {} : isForward ? { after: cursor } : { before: cursor };
      const params = { path: { id: chatId }, query: { ...filter, ...from, limit: PAGE } };
      const { messages, pagination } = dataOf(await this.api.GET("/chats/{id}/messages", { params }));
      const rows = isForward ? [...messages].reverse() : messages;
      yield* rows;
      cursor = cursorOf(pagination) ?? rows.at(-1)?.id;
      if (!pagination.hasMore || cursor === undefined) return;
    }
  }

  /**
   * The messages of all chats that contain a text, the newest first, each with its chat. Each once, also if messages arrive
   * meanwhile. Throws a ParleyError with the code `search_off` while the organization's search is off.
   */
  async *searchMessages(filter: MessageSearchOptions): AsyncGenerator<FoundMessage, void, undefined> {
    for (let before: string | undefined; ; ) {
      const query = { ...filter, limit: PAGE, ...(before !== undefined && { before }) };
      const { messages, pagination } = dataOf(await this.api.GET("/messages", { params: { query } }));
      yield* messages;
      before = cursorOf(pagination);
      if (before === undefined) return;
    }
  }

  /** The organization's saved replies, oldest first. */
  async *replies(): AsyncGenerator<ApiSchemas["SavedReply"], void, undefined> {
    for (let after: string | undefined; ; ) {
      const query = { limit: PAGE, ...(after !== undefined && { after }) };
      const { replies, pagination } = dataOf(await this.api.GET("/replies", { params: { query } }));
      yield* replies;
      after = cursorOf(pagination);
      if (after === undefined) return;
    }
  }

  /** The organization's events, as they happen. See `followEvents`. */
  events(options: EventOptions = {}): AsyncGenerator<FollowedEvent, void, undefined> {
    return followEvents(this.#source, options);
  }
}

/** Where a filtered list continues. A page of it can be empty before the end. */
function cursorOf(pagination: object | { cursor: string | null }): string | undefined {
  return "cursor" in pagination ? (pagination.cursor ?? undefined) : undefined;
}

/** The data of a call of `api`. @throws ParleyError for an error */
export function dataOf<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (!response.ok) throw responseError(response, error);
  if (data !== undefined) return data;
  throw new ParleyError("The response has no data", { status: response.status, code: "not_parley" });
}
