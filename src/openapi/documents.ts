import { ERRORS, type ErrorCode } from "../http/errors.ts";
import { OF_NO_OPERATION } from "./errors.ts";
import { HEADERS, type HeaderName } from "./headers.ts";
import { type Components, errorsOf, type Operation, type Scope, written } from "./operation.ts";
import { channelOperations } from "./operator/channels.ts";
import { chatOperations } from "./operator/chats.ts";
import { keyOperations } from "./operator/keys.ts";
import { organizationOperations } from "./operator/organizations.ts";
import { statsOperations } from "./operator/stats.ts";
import { templateOperations } from "./operator/templates.ts";
import { PUBLIC_OPERATIONS } from "./public-operations.ts";
import { ROOT_OPERATIONS, ROOT_SCOPE, WEB_OPERATIONS, WEB_SCOPE } from "./web-operations.ts";

const CONVENTIONS = `Bodies and answers are JSON in UTF-8; fields are camelCase. Times are RFC 3339 in UTC. Ids are opaque. In a request body, \`null\` in an optional field means absent, and unknown fields are ignored. A query parameter that is empty, repeated or unknown is a 400 that names it. "Characters" are UTF-16 units. New fields may be added to answers at any time. \`HEAD\` answers as \`GET\`, without the body. Every answer carries \`X-Request-Id\`. Call the API from a server, not from a browser: it sends no CORS headers, because a key in a page would be public.

An error has its text in \`message\` (raised centrally) or in \`error\` (said by an endpoint of its own resources), never in both, and a \`code\` that does not change. A path that is no route answers ${told("not_found")}, a method that a path does not have ${told("method_not_allowed")} and names the others in \`Allow\`.`;

function told(code: (typeof OF_NO_OPERATION)[number]): string {
  const { status, shape, text } = ERRORS[code];
  return `${status} \`{ "${shape}": "${text}", "code": "${code}" }\``;
}

interface Document {
  title: string;
  summary: string;
  description: string;
  server: { url: string; description: string };
  security: { name: string; description: string };
  tags: Record<string, string>;
  groups: readonly Group[];
}

/** Operations with something in common; `server` is theirs where it is not the document's, null `security` asks for none. */
interface Group {
  operations: readonly Operation[];
  scope: Scope;
  server?: { url: string; description: string };
  open?: true;
}

const ROOT_SERVER = { url: "/", description: "The service that this document comes from" };

const PUBLIC: Document = {
  title: "Parley",
  summary: "List and send messages in chats.",
  description: `One API in front of a company's conversations: its clients list and send messages in chats, and each chat is delivered through its channel, WhatsApp, Telegram or a web chat.

${CONVENTIONS}

A chat of another organization is answered exactly as one that does not exist.

Each key has a rate limit, counted in fixed windows that start with a request, and may have a quota for each UTC month. What is admitted counts, a 400 or a 404 too; a 401, a 403 and a 429 count nothing. Every authenticated answer says where the key stands.

Two addresses ask for no key and are not below \`/api/v1\`: \`GET /healthz\` answers 200 \`{ "ok": true }\`, and \`/widget.js\` puts the web chat on any page.`,
  server: { url: "/api/v1", description: "The service that this document comes from" },
  security: { name: "apiKey", description: "An API key, as the operator made it: `Authorization: Bearer ply_…`." },
  tags: {
    Chats: "A chat is a talk with one contact on one channel.",
    Messages: "What is said in a chat, in either direction.",
    Key: "What a key may know of itself.",
    "Web chat": "The page on which a company's visitors write.",
    Service: "The service itself.",
  },
  groups: [
    {
      operations: PUBLIC_OPERATIONS,
      scope: {
        limited: true,
        errors: [
          "missing_authorization",
          "invalid_api_key",
          "permission_denied",
          "ip_not_allowed",
          "quota_exceeded",
          "rate_limited",
          "validation_failed",
          "internal_error",
          "unavailable",
        ],
      },
    },
    { operations: WEB_OPERATIONS, scope: WEB_SCOPE, server: ROOT_SERVER, open: true },
    { operations: ROOT_OPERATIONS, scope: ROOT_SCOPE, server: ROOT_SERVER, open: true },
  ],
};

const OPERATOR: Document = {
  title: "Parley for operators",
  summary: "Organizations, channels, templates and keys.",
  description: `What the operator of a Parley service does: make organizations, channels, templates and API keys, watch chats, and erase.

${CONVENTIONS}

Each request that wrote leaves one audit line in the log. A write that fails with a 5xx leaves one with the outcome "unknown": the write may have been made. While the service's own configuration lacks what a route needs, the route answers 503.`,
  server: { url: "/admin/v1", description: "The service that this document comes from" },
  security: { name: "adminToken", description: "The operator's token, which the service knows as `ADMIN_TOKEN`." },
  tags: {
    Organizations: "The customers: what one API key sees belongs to one of them.",
    Members: "An organization's users, in whose names messages are sent.",
    Channels: "The ways to reach contacts, and the secrets that they keep.",
    Templates: "Texts with placeholders.",
    Chats: "The chats of all organizations.",
    Keys: "The API keys of organizations.",
    Stats: "What an operator watches.",
  },
  groups: [
    {
      operations: [
        ...organizationOperations,
        ...channelOperations,
        ...templateOperations,
        ...chatOperations,
        ...keyOperations,
        ...statsOperations,
      ],
      scope: {
        limited: false,
        errors: [
          "missing_authorization",
          "invalid_api_key",
          "rate_limited",
          "validation_failed",
          "internal_error",
          "unavailable",
        ],
      },
    },
  ],
};

/** The documents by the names of their files; `version` is the service's. */
export function documents(version: string) {
  return { public: documentOf(PUBLIC, version), operator: documentOf(OPERATOR, version) };
}

/** The codes that a document's operations may answer, and those that it tells of in words. */
export function documentedCodes(): Set<ErrorCode> {
  const ofGroup = ({ operations, scope }: Group) => operations.flatMap((operation) => errorsOf(operation, scope));
  return new Set([...OF_NO_OPERATION, ...[PUBLIC, OPERATOR].flatMap(({ groups }) => groups.flatMap(ofGroup))]);
}

function documentOf(document: Document, version: string) {
  const { title, summary, description, server, security, tags, groups } = document;
  const components: Components = { schemas: {}, responses: {} };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { operations, scope, server: ownServer, open } of groups) {
    for (const operation of operations) {
      const path = (paths[operation.path] ??= ownServer ? { servers: [ownServer] } : {});
      path[operation.method] = { ...written(operation, scope, components), ...(open && { security: [] }) };
    }
  }
  return {
    openapi: "3.1.0",
    info: {
      title,
      version,
      summary,
      description,
      contact: { name: "The operator of this service" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [server],
    security: [{ [security.name]: [] }],
    tags: Object.entries(tags).map(([name, of]) => ({ name, description: of })),
    paths,
    components: {
      securitySchemes: { [security.name]: { type: "http", scheme: "bearer", description: security.description } },
      headers: headersIn(JSON.stringify([paths, components])),
      responses: sorted(components.responses),
      schemas: sorted(components.schemas),
    },
  };
}

function sorted<T>(values: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The headers that a document refers to. */
function headersIn(text: string) {
  const names = (Object.keys(HEADERS) as HeaderName[]).filter((name) => text.includes(`#/components/headers/${name}"`));
  return Object.fromEntries(names.map((name) => [name, HEADERS[name]]));
}
