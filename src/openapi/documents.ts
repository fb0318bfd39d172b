import { networkLabels } from "../model/channel-kind.ts";
import { ERRORS, type ErrorCode } from "../model/error.ts";
import { ACT_OPERATIONS } from "./act-operations.ts";
import { AGENT_OPERATIONS } from "./agent-operations.ts";
import type { UNMATCHED_CODES } from "./errors.ts";
import { EVENT_OPERATIONS } from "./event-operations.ts";
import { EXPORT_OPERATIONS, operatorExportOperations } from "./export-operations.ts";
import { HEADERS, type HeaderName } from "./headers.ts";
import { MESSAGE_OPERATIONS } from "./message-operations.ts";
import { NOTE_OPERATIONS } from "./note-operations.ts";
import { type Components, type GroupDefaults, methodAndPath, type OperationSpec, writeOperation } from "./operation.ts";
import { auditOperations } from "./operator/audit.ts";
import { channelOperations, resealOperations } from "./operator/channels.ts";
import { chatOperations, erasureOperations } from "./operator/chats.ts";
import { keyOperations } from "./operator/keys.ts";
import { labelOperations } from "./operator/labels.ts";
import { memberOperations } from "./operator/members.ts";
import { metricsOperations } from "./operator/metrics.ts";
import { organizationOperations } from "./operator/organizations.ts";
import { replyOperations } from "./operator/replies.ts";
import { KEY_SIDE, OPERATOR_SIDE } from "./operator/side.ts";
import { statsOperations } from "./operator/stats.ts";
import { templateOperations } from "./operator/templates.ts";
import { OWN_OPERATIONS } from "./own-operations.ts";
import { PUBLIC_OPERATIONS } from "./public-operations.ts";
import { SCHEDULE_OPERATIONS } from "./schedule-operations.ts";
import { SEARCH_OPERATIONS } from "./search-operations.ts";
import { ROOT_DEFAULTS, ROOT_OPERATIONS, WEB_DEFAULTS, WEB_OPERATIONS } from "./web-operations.ts";
import { webhookCalls } from "./webhook-calls.ts";
import { webhookOperations } from "./webhook-operations.ts";

const CONVENTIONS = `Request and response bodies are JSON in UTF-8. Field names are camelCase, and times are RFC 3339 in UTC. Ids are opaque strings. In a request body, \`null\` in an optional field means that the field is absent, and unknown fields are ignored. A query parameter that is empty, repeated or unknown is a 400 that names it. "Characters" are UTF-16 code units. New fields can appear in responses at any time. \`HEAD\` works like \`GET\`, without the body. Every response carries \`X-Request-Id\`. Call the API from a server, not from a browser: a key in a page would be public, so the API sends no CORS headers.

Every error has a \`code\` that does not change. Its text is either in \`message\` (the request itself was refused) or in \`error\` (the route looked at its resources), never in both. An unknown path returns ${errorLine("not_found")}. A method that a path does not have returns ${errorLine("method_not_allowed")}, and \`Allow\` lists the others. Over plain http, a deployed service returns ${errorLine("https_required")}.`;

function errorLine(code: (typeof UNMATCHED_CODES)[number]): string {
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
  /** Whether it describes the calls that the service makes to webhooks. */
  callsWebhooks?: true;
}

/** Operations with something in common. `server` replaces the document's own, and `open` operations need no secret. */
interface Group {
  operations: readonly OperationSpec[];
  defaults: GroupDefaults;
  server?: { url: string; description: string };
  open?: true;
}

/** The errors of each operation with a key or a token. */
const ERRORS_OF_ALL = [
  "missing_authorization",
  "invalid_api_key",
  "rate_limited",
  "validation_failed",
  "internal_error",
  "unavailable",
] as const satisfies ErrorCode[];

const ROOT_SERVER = { url: "/", description: "The service that serves this document" };

const PUBLIC: Document = {
  title: "Parley",
  summary: "List and send messages in chats.",
  description: `Parley is one API for a company's conversations. The company's software lists and sends messages in chats, and Parley delivers each chat through its channel: ${networkLabels()} or a web chat.

${CONVENTIONS}

A chat of another organization gets exactly the response of a chat that does not exist.

Each key has a rate limit. A window starts with the key's first request. A key can also have a quota for each calendar month in UTC. Every accepted request counts, including those answered 400 or 404. 401, 403 and 429 don't. Every authenticated response shows the state of the rate limit in its headers.

Two addresses need no key and are not below \`/api/v1\`: \`GET /healthz\` returns 200 \`{ "ok": true, "version": "…", "build": "…" }\`, and \`/widget.js\` puts the web chat on any page.`,
  server: { url: "/api/v1", description: "The service that serves this document" },
  callsWebhooks: true,
  security: { name: "apiKey", description: "An API key from the operator: `Authorization: Bearer ply_…`." },
  tags: {
    Chats: "A chat is a conversation with one contact on one channel.",
    Messages: "The messages of a chat, inbound and outbound.",
    Notes: "What the organization's people write to each other about a chat.",
    Events: "What happened in an organization, in order.",
    Export: "Chats and their messages as lines of JSON.",
    Webhooks: "URLs that the service calls with events.",
    Agents: "Tools for AI agents, by the Model Context Protocol.",
    Key: "The API key of the request.",
    Organization: "The customer that the key belongs to.",
    Keys: "The API keys of the organization.",
    Channels: "The connections to networks, and their secrets.",
    Templates: "Texts with placeholders.",
    "Saved replies": "Texts for the console's composer.",
    Labels: "Names that an organization gives to chats.",
    Members: "The people in the organization. Outbound messages have a member as their sender.",
    "Audit log": "Who did what in an organization.",
    Statistics: "Counts of deliveries and requests.",
    "Web chat": "The page where a site's visitors write.",
    Service: "The service itself.",
  },
  groups: [
    {
      operations: [
        ...PUBLIC_OPERATIONS,
        ...SEARCH_OPERATIONS,
        ...SCHEDULE_OPERATIONS,
        ...NOTE_OPERATIONS,
        ...MESSAGE_OPERATIONS,
        ...ACT_OPERATIONS,
        ...EVENT_OPERATIONS,
        ...EXPORT_OPERATIONS,
        ...webhookOperations(KEY_SIDE),
        ...OWN_OPERATIONS,
      ],
      defaults: {
        limited: true,
        errors: [...ERRORS_OF_ALL, "permission_denied", "ip_not_allowed", "quota_exceeded"],
      },
    },
    {
      // Its faults of the input are those of JSON-RPC.
      operations: AGENT_OPERATIONS,
      defaults: {
        limited: true,
        errors: [...ERRORS_OF_ALL.filter((code) => code !== "validation_failed"), "ip_not_allowed", "quota_exceeded"],
        suffix: "OfAgents",
      },
    },
    { operations: WEB_OPERATIONS, defaults: WEB_DEFAULTS, server: ROOT_SERVER, open: true },
    { operations: ROOT_OPERATIONS, defaults: ROOT_DEFAULTS, server: ROOT_SERVER, open: true },
  ],
};

const OPERATOR: Document = {
  title: "Parley for operators",
  summary: "Organizations, channels, templates and keys.",
  description: `The API for the operator of a Parley service: create organizations, channels, templates and API keys, watch the service, and delete data.

${CONVENTIONS}

Every request that changes something, exports or searches leaves an entry in the organization's audit log before it acts, and one \`audit\` line in the service's log after it. If the entry can't be stored, the response is a 503, and nothing is done. What cuts off access (revoking a key, deleting a member, ending sessions, disabling a webhook) does not wait for the entry. If the configuration lacks what a route needs, the route returns 503.`,
  server: { url: "/admin/v1", description: "The service that serves this document" },
  security: { name: "adminToken", description: "The operator's token: the value of `ADMIN_TOKEN`." },
  tags: {
    Organizations: "The customers of the service. An API key sees the data of one organization.",
    Members: "The people in an organization. Outbound messages have a member as their sender.",
    Channels: "The connections to networks, and their secrets.",
    Templates: "Texts with placeholders.",
    "Saved replies": "Texts for the console's composer.",
    Labels: "Names that an organization gives to chats.",
    Chats: "The chats of all organizations.",
    Keys: "The API keys of organizations.",
    Webhooks: "URLs that the service calls with events.",
    "Audit log": "Who did what in an organization.",
    Statistics: "Counts of deliveries and requests.",
  },
  groups: [
    {
      operations: [
        ...organizationOperations,
        ...memberOperations(OPERATOR_SIDE),
        ...channelOperations(OPERATOR_SIDE),
        ...resealOperations,
        ...templateOperations(OPERATOR_SIDE),
        ...replyOperations(OPERATOR_SIDE),
        ...labelOperations(OPERATOR_SIDE),
        ...chatOperations,
        ...operatorExportOperations,
        ...erasureOperations(OPERATOR_SIDE),
        ...keyOperations(OPERATOR_SIDE),
        ...webhookOperations(OPERATOR_SIDE),
        ...auditOperations(OPERATOR_SIDE),
        ...statsOperations(OPERATOR_SIDE),
        ...metricsOperations,
      ],
      defaults: { limited: false, errors: ERRORS_OF_ALL },
    },
  ],
};

/** The documents by the names of their files. `version` is the version of the service. */
export function documents(version: string) {
  return { public: documentOf(PUBLIC, version), operator: documentOf(OPERATOR, version) };
}

function documentOf(document: Document, version: string) {
  const { title, summary, description, server, security, tags, groups } = document;
  const components: Components = { schemas: {}, responses: {} };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { operations: all, defaults, server: ownServer, open } of groups) {
    for (const operation of all) {
      const [method, path] = methodAndPath(operation);
      const operations = (paths[path] ??= ownServer ? { servers: [ownServer] } : {});
      operations[method] = { ...writeOperation(operation, defaults, components), ...(open && { security: [] }) };
    }
  }
  const webhooks = document.callsWebhooks ? { webhooks: webhookCalls(components.schemas) } : {};
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
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    ...webhooks,
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
