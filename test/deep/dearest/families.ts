import { PERMISSIONS } from "../../../src/model/permission.ts";

/** What the requests of a run are about. */
export interface DearPlace {
  organizationId: string;
  memberId: string;
  channelId: string;
  telegram: { id: string; verifyToken: string };
  chatId: string;
  templateId: string;
  keyId: string;
  webhookId: string;
  replyId: string;
  labelId: string;
}

/** A request that may be dear. `as`: whose token it has. */
interface DearRequest {
  method: string;
  path: string;
  as: "key" | "operator" | "nobody";
  headers?: Record<string, string>;
  body?: string;
}

/** Requests to a route that differ in a few whole numbers. */
export interface Family {
  route: string;
  /** The least and the greatest of each number. */
  knobs: Readonly<Record<string, readonly [number, number]>>;
  request: (knobs: Record<string, number>, place: DearPlace) => DearRequest;
}

/** Parts of texts that some code reads more than once, or in the square. */
const PARTS = [
  ...'a)(.漢ễ\ufdfa\0"\\ \u200d€',
  "\u0301\u0323",
  "\u200d\u0301\u200d\u0323",
  "ﾞ\u0323",
  "https://a.b/ ",
  "https://a.b/)",
  "{{a}}",
  "{{",
  "}}{{",
  "\ud83d",
  "%41",
  "../",
  "é.",
];

/** The numbers that make a text: what is repeated, and how many characters. */
const text = (most: number) => ({ part: [0, PARTS.length - 1], length: [0, most] }) as const;

function textOf({ part = 0, length = 0 }: Record<string, number>, before = ""): string {
  const one = PARTS[part] ?? "a";
  return (before + one.repeat(Math.ceil(length / one.length))).slice(0, Math.max(length, before.length));
}

const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const pairs = (count: number, value: string) => Object.fromEntries(many(count, (n) => [`k${n}`, value]));
const nested = (depth: number, inner: unknown): unknown => (depth === 0 ? inner : [nested(depth - 1, inner)]);
/** So that the text stays a part of a URL. */
const encoded = (value: string) => encodeURIComponent(value.toWellFormed());

function get(route: string, most: number, path: (value: string, place: DearPlace) => string): Family {
  return {
    route,
    knobs: text(most),
    request: (knobs, place) => ({ method: "GET", path: path(encoded(textOf(knobs)), place), as: "key" }),
  };
}

function write(
  route: string,
  knobs: Family["knobs"],
  make: (
    knobs: Record<string, number>,
    place: DearPlace,
  ) => { path: string; body: unknown; headers?: Record<string, string> },
  as: DearRequest["as"] = "key",
): Family {
  const [method = ""] = route.split(" ");
  return {
    route,
    knobs,
    request: (given, place) => {
      const { path, body, headers } = make(given, place);
      return { method, path, as, body: JSON.stringify(body), ...(headers && { headers }) };
    },
  };
}

export const FAMILIES: readonly Family[] = [
  get(
    "GET /chats/{id}/messages?search",
    100,
    (value, { chatId }) => `/api/v1/chats/${chatId}/messages?search=${value}`,
  ),
  get("GET /chats?search", 100, (value) => `/api/v1/chats?search=${value}`),
  get("GET /chats?contact", 300, (value) => `/api/v1/chats?contact=${value}`),
  get("GET /chats?after", 600, (value) => `/api/v1/chats?unanswered=true&after=${value}`),
  get("GET /events?after", 2_000, (value) => `/api/v1/events?after=${value}`),
  get(
    "GET /chats/{id}/messages?before",
    2_000,
    (value, { chatId }) => `/api/v1/chats/${chatId}/messages?before=${value}`,
  ),
  get("GET /chats/{id}", 2_000, (value) => `/api/v1/chats/${value}`),
  get("GET /docs or nothing", 8_000, (value) => `/${value}`),
  get(
    "GET /audit?actor",
    2_000,
    (value, { organizationId }) => `/api/v1/audit?actor=${value}&organization=${organizationId}`,
  ),
  {
    route: "GET /events?types",
    knobs: { count: [1, 400] },
    request: ({ count = 1 }) => {
      const types = many(count, (n) => ["message.*", "chat.created", "message.status"][n % 3]).join();
      return { method: "GET", path: `/api/v1/events?types=${types}`, as: "key" };
    },
  },
  {
    route: "GET /key, with headers",
    knobs: { ...text(4_000), tags: [0, 400] },
    request: ({ tags = 0, ...knobs }) => ({
      method: "GET",
      path: "/api/v1/key",
      as: "key",
      headers: {
        "If-None-Match": many(tags, (n) => `"tag-${n}"`).join(", "),
        "X-Request-Id": encoded(textOf(knobs)).slice(0, 4_000),
      },
    }),
  },
  {
    route: "GET /key, with a junk key",
    knobs: text(6_000),
    request: (knobs) => ({
      method: "GET",
      path: "/api/v1/key",
      as: "nobody",
      headers: { Authorization: `Bearer pk_${encoded(textOf(knobs))}` },
    }),
  },
  {
    route: "GET /console/api/session, with a cookie",
    knobs: { ...text(4_000), cookies: [0, 200] },
    request: ({ cookies = 0, ...knobs }) => ({
      method: "GET",
      path: "/console/api/session",
      as: "nobody",
      headers: {
        Cookie: [...many(cookies, (n) => `c${n}=1`), `session=${encoded(textOf(knobs))}`].join("; ").slice(0, 7_000),
      },
    }),
  },
  write("POST /chats/{id}/messages", { ...text(5_000), pairs: [0, 200] }, ({ pairs: count = 0, ...knobs }, place) => ({
    path: `/api/v1/chats/${place.chatId}/messages`,
    body: { content: textOf(knobs), senderId: place.memberId, metadata: pairs(count, "v") },
  })),
  write(
    "POST /chats/{id}/messages, by a template",
    { ...text(5_000), variables: [0, 3_000] },
    ({ variables = 0, ...knobs }, place) => ({
      path: `/api/v1/chats/${place.chatId}/messages`,
      body: {
        content: "x",
        senderId: place.memberId,
        templateId: place.templateId,
        variables: { ...pairs(variables, "v"), a: textOf(knobs) },
      },
    }),
  ),
  write("POST /chats/{id}/messages, with a file", text(5_000), (knobs, place) => ({
    path: `/api/v1/chats/${place.chatId}/messages`,
    body: { content: "x", senderId: place.memberId, type: "DOCUMENT", mediaUrl: textOf(knobs, "https://") },
  })),
  write(
    "POST /chats/{id}/messages, nested",
    { depth: [0, 2_000], fields: [0, 3_000] },
    ({ depth = 0, fields = 0 }, place) => ({
      path: `/api/v1/chats/${place.chatId}/messages`,
      body: { content: "x", ...pairs(fields, "v"), metadata: nested(depth, 1) },
    }),
  ),
  write("POST /chats", { ...text(5_000), pairs: [0, 300] }, ({ pairs: count = 0, ...knobs }, place) => ({
    path: "/api/v1/chats",
    body: {
      channelId: place.channelId,
      contact: { address: `a${Math.random()}`, name: textOf(knobs) },
      metadata: pairs(count, "v"),
    },
  })),
  write("PATCH /chats/{id}", { ...text(300), pairs: [0, 300] }, ({ pairs: count = 0, ...knobs }, place) => ({
    path: `/api/v1/chats/${place.chatId}`,
    body: { contact: { name: textOf(knobs) }, metadata: pairs(count, textOf(knobs)) },
  })),
  write(
    "POST /keys",
    { rules: [0, 1_500], bits: [0, 128], permissions: [1, 400], isSix: [0, 1] },
    ({ rules = 0, bits = 0, permissions = 1, isSix = 0 }) => ({
      path: "/api/v1/keys",
      body: {
        name: "Key",
        permissions: many(permissions, (n) => PERMISSIONS[n % PERMISSIONS.length]),
        ipAllowlist: many(rules, (n) =>
          isSix === 1 ? `2001:db8:${n.toString(16)}::/${bits}` : `10.${n >> 8}.${n & 255}.0/${bits % 33}`,
        ),
      },
    }),
  ),
  write("PATCH /keys/{id}", { rules: [0, 1_500] }, ({ rules = 0 }, { keyId }) => ({
    path: `/api/v1/keys/${keyId}`,
    body: { ipAllowlist: many(rules, (n) => `2001:db8:${n.toString(16)}::`) },
  })),
  write("POST /templates", { ...text(9_000), placeholders: [0, 1_000] }, ({ placeholders = 0, ...knobs }) => ({
    path: "/api/v1/templates",
    body: {
      name: `t${Math.random()}`,
      language: "en",
      body: `${many(placeholders, (n) => `{{v${n}}}`).join("")}${textOf(knobs)}`,
    },
  })),
  write("POST /replies", { ...text(9_000), placeholders: [0, 1_000] }, ({ placeholders = 0, ...knobs }) => ({
    path: "/api/v1/replies",
    body: {
      name: "n",
      content: `${many(placeholders, (n) => `{{metadata.${n}|}}`).join("")}${textOf(knobs)}`,
    },
  })),
  write("PATCH /replies/{id}", text(600), (knobs, place) => ({
    path: `/api/v1/replies/${place.replyId}`,
    body: { shortcut: textOf(knobs) },
  })),
  write("POST /labels", text(600), (knobs) => ({ path: "/api/v1/labels", body: { name: textOf(knobs) } })),
  write("PATCH /labels/{labelId}", text(600), (knobs, place) => ({
    path: `/api/v1/labels/${place.labelId}`,
    body: { name: textOf(knobs) },
  })),
  write("POST /members", text(600), (knobs) => ({
    path: "/api/v1/members",
    body: { name: "Ann", email: `${textOf(knobs)}@${textOf(knobs)}.test` },
  })),
  write("POST /webhooks", { ...text(3_000), types: [0, 500] }, ({ types = 0, ...knobs }) => ({
    path: "/api/v1/webhooks",
    body: { url: textOf(knobs, "https://"), types: many(types, () => "message.received") },
  })),
  write("PATCH /webhooks/{id}", { ...text(3_000), channels: [0, 500] }, ({ channels = 0, ...knobs }, place) => ({
    path: `/api/v1/webhooks/${place.webhookId}`,
    body: { description: textOf(knobs), channels: many(channels, () => place.channelId) },
  })),
  write("PATCH /channels/{id}", { ...text(600), origins: [0, 300] }, ({ origins = 0, ...knobs }, place) => ({
    path: `/api/v1/channels/${place.channelId}`,
    body: { origins: many(origins, (n) => textOf(knobs, `https://a${n}.`)) },
  })),
  write(
    "POST /console/session",
    text(9_000),
    (knobs) => ({ path: "/console/session", body: { token: textOf(knobs) } }),
    "nobody",
  ),
  write(
    "POST /hooks/telegram",
    { ...text(9_000), depth: [0, 2_000], photos: [0, 3_000] },
    ({ depth = 0, photos = 0, ...knobs }, { telegram }) => ({
      path: `/hooks/telegram/${telegram.id}`,
      headers: { "X-Telegram-Bot-Api-Secret-Token": telegram.verifyToken },
      body: {
        update_id: 1,
        message: {
          message_id: Math.trunc(Math.random() * 1e9),
          date: 1,
          chat: { id: 1, type: "private", first_name: textOf(knobs) },
          text: textOf(knobs),
          other: nested(depth, 1),
          entities: many(photos, (n) => ({ type: "url", offset: n, length: 1 })),
        },
      },
    }),
    "nobody",
  ),
];
