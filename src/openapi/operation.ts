import * as z from "zod";
import type * as core from "zod/v4/core";
import { MAX_BODY } from "../http/validation.ts";
import { MAX_WARNINGS } from "../http/warnings.ts";
import { ACTIONS } from "../model/audit-action.ts";
import { ERRORS, type ErrorCode } from "../model/error.ts";
import { type Need, neededPermissions, needsOnlyOne } from "../model/permission.ts";
import { errorContent, errorDescription, pascalCase } from "./errors.ts";
import { examples } from "./examples.ts";
import { always, type HeaderName, LIMIT_HEADERS, sometimes } from "./headers.ts";
import { type Definitions, type JsonSchema, reference, requestSchema, responseSchema } from "./json-schema.ts";
import { needOf } from "./permissions.ts";
import { webhookExamples } from "./webhook-resources.ts";

/** The description of a route. */
export interface OperationSpec {
  /** The method and the path: `GET /chats/{id}`. */
  route: string;
  id: string;
  tag: string;
  summary: string;
  description: string;
  query?: Query;
  /** Headers that a client can send. */
  headers?: readonly RequestHeader[];
  body?: RequestBodySpec;
  /** What the body is, if it is a file. */
  file?: string;
  responses: readonly ResponseSpec[];
  /** The errors of this route, besides those of its group and those of the ids in its path. */
  errors?: readonly ErrorCode[];
}

/** Gives operations their tag. */
export function tagged(tag: string, operations: readonly Omit<OperationSpec, "tag">[]): readonly OperationSpec[] {
  return operations.map((operation) => ({ ...operation, tag }));
}

interface Query {
  schema: core.$ZodObject;
  /** A description of each parameter. The document omits parameters without one. */
  descriptions: Record<string, string>;
  /** JSON Schema keywords by parameter, for rules that the schema checks in code. */
  keywords?: Record<string, JsonSchema>;
}

interface RequestHeader {
  name: string;
  description: string;
  schema: JsonSchema;
  example: string;
}

/** The body of a request: the schema that validates it, and what the schema can't express. */
export interface RequestBodySpec {
  name: string;
  description: string;
  schema: core.$ZodType;
  descriptions: Record<string, string>;
  /** JSON Schema keywords by field, for rules that the schema checks in code. */
  keywords?: Record<string, JsonSchema>;
  example: object;
  /** Further examples, by what each shows. */
  more?: Record<string, object>;
  /** Whether an empty body counts as `{}`. */
  mayBeEmpty?: boolean;
  /** Whether it follows the rules of another protocol, so that no response has warnings. */
  isForeign?: boolean;
}

/** A response that is not an error. */
export type ResponseSpec = { status: number; description: string; headers?: Record<string, object> } & (
  | { schema: z.ZodType; example: object }
  /** `part`: what the text has many of, such as its lines. Several types: the request's `Accept` chooses one. */
  | { contentType: string | readonly string[]; part?: z.ZodType }
  | { empty: true }
);

/** A JSON response with an example of its type. */
export function jsonResponse<Schema extends z.ZodType>(
  status: number,
  description: string,
  schema: Schema,
  example: z.output<Schema> & object,
  headers: Record<string, object> = {},
): ResponseSpec {
  return { status, description, schema, example, headers };
}

/** What all operations of a group have in common. */
export interface GroupDefaults {
  /** Errors of authentication, validation and the service itself. */
  errors: readonly ErrorCode[];
  /** Whether they are for API keys: with a permission line, and responses with the headers of the key's rate limit. */
  limited: boolean;
  /** The suffix of the names of its error responses, if another group has responses with the same codes. */
  suffix?: string;
}

/** The parts of a document's `components` that operations refer to. */
export interface Components {
  schemas: Definitions;
  responses: Record<string, object>;
}

/** Path parameters by the segment before them, and the error if there is no such resource. */
const IDS: Record<string, { description: string; example: string; error: ErrorCode }> = {
  organizations: {
    description: "The organization's id.",
    example: examples.organization.id,
    error: "organization_not_found",
  },
  members: { description: "The member's id.", example: examples.member.id, error: "member_not_found" },
  channels: { description: "The channel's id.", example: examples.channel.id, error: "channel_not_found" },
  templates: { description: "The template's id.", example: examples.template.id, error: "template_not_found" },
  chats: { description: "The chat's id.", example: examples.chat.id, error: "chat_not_found" },
  messages: { description: "The message's id.", example: examples.message.id, error: "message_not_found" },
  notes: { description: "The note's id.", example: examples.note.id, error: "note_not_found" },
  events: { description: "The event's id.", example: examples.event.id, error: "event_not_found" },
  keys: { description: "The key's id.", example: examples.key.id, error: "key_not_found" },
  webhooks: { description: "The webhook's id.", example: webhookExamples.webhook.id, error: "webhook_not_found" },
  replies: { description: "The saved reply's id.", example: examples.reply.id, error: "reply_not_found" },
  labels: { description: "The label's id.", example: examples.label.id, error: "label_not_found" },
  replays: { description: "The replay's id.", example: webhookExamples.replay.id, error: "replay_not_found" },
  web: { description: "The web channel's id.", example: examples.channel.id, error: "channel_not_found" },
};

/** An operation in the form of OpenAPI. Adds what the operation refers to to `components`. */
export function writeOperation(operation: OperationSpec, defaults: GroupDefaults, components: Components) {
  const { schemas } = components;
  const { id, tag, summary, description, query, headers = [], body, file, responses } = operation;
  const [method, path] = methodAndPath(operation);
  const permission = defaults.limited ? needOf(method, path) : undefined;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: permission ? `${description}\n\n${needText(permission)}` : description,
    parameters: [...idsIn(path).map(pathParameter), ...queryParameters(query), ...headers.map(headerParameter)],
    ...(body && { requestBody: requestBody(body, schemas) }),
    ...(file !== undefined && { requestBody: fileBody(file) }),
    responses: {
      ...Object.fromEntries(
        responses.map((response) => [
          response.status,
          writeResponse(body && !body.isForeign ? withWarnings(response) : response, defaults, schemas),
        ]),
      ),
      ...errorResponses(errorsOf(operation, permission, defaults), defaults, components),
    },
  };
}

function needText(permission: Need): string {
  const needed = neededPermissions(permission).map((each) => `\`${each}\``);
  if (needsOnlyOne(permission)) return `The key needs one of the permissions ${needed.join(" and ")}.`;
  if (needed.length === 1) return `The key needs the permission ${needed[0]}.`;
  return `The key needs the permissions ${needed.slice(0, -1).join(", ")} and ${needed.at(-1)}.`;
}

/** Every error that an operation can return. @param permission null: none. Undefined: a route without an API key */
function errorsOf(operation: OperationSpec, permission: Need | null | undefined, defaults: GroupDefaults): ErrorCode[] {
  const { id, body, errors = [] } = operation;
  const [method, path] = methodAndPath(operation);
  const ofIds = idsIn(path).map(({ error }) => error);
  const codes = new Set<ErrorCode>([...defaults.errors, ...ofIds, ...errors]);
  if (permission === null) codes.delete("permission_denied");
  if (permission === "contact:reach") codes.add("drafts_only");
  if (permission && hasCeiling(id, method, permission)) codes.add("audit_full");
  if (body) codes.add("body_too_large").add("media_type");
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

/** Requests of the management that wait for no room in the audit log. */
const STOPS = ["deleteMember", "endSessions", "revokeKey", "disableWebhook"];
const SEARCHES = ["listChats", "listMessages"];
const AUDITED: string[] = Object.values(ACTIONS).flatMap(({ needs }) => needs ?? []);

/** Whether an operation of keys needs room in the audit log. */
function hasCeiling(id: string, method: string, permission: Need): boolean {
  if (SEARCHES.includes(id)) return true;
  const isRead = method === "get" && permission !== "data:export";
  return !isRead && AUDITED.includes(permission) && !STOPS.includes(id);
}

/** An operation's method, in lower case, and its path, in the form of OpenAPI. */
export function methodAndPath({ route }: Pick<OperationSpec, "route">): [method: string, path: string] {
  const [method = "", path = ""] = route.split(" ");
  return [method.toLowerCase(), path];
}

/** The ids in a path, by the segment before each. */
function idsIn(path: string) {
  return [...path.matchAll(/([^/]+)\/\{(\w+)\}/g)].map(([, kind = "", name = ""]) => {
    const known = IDS[kind];
    if (!known) throw new Error(`The path ${path} has an id of an unknown kind`);
    return { name, ...known };
  });
}

function pathParameter({ name, description, example }: ReturnType<typeof idsIn>[number]) {
  return { name, in: "path", required: true, description, example, schema: { type: "string" } };
}

function queryParameters(query: Query | undefined) {
  if (!query) return [];
  const { shape } = query.schema._zod.def;
  const all = Object.keys(shape);
  const parameters = requestSchema(
    query.schema,
    Object.fromEntries(all.map((name) => [name, query.descriptions[name] ?? ""])),
  );
  return Object.entries(query.descriptions).map(([name, description]) => {
    const { description: _, ...own } = parameters.properties?.[name] ?? {};
    const schema = { ...own, ...query.keywords?.[name] };
    const absent = z.safeParse(shape[name] as z.ZodType, undefined);
    const value = absent.data;
    return {
      name,
      in: "query",
      ...(!absent.success && { required: true }),
      description,
      schema: value === undefined ? schema : { ...schema, default: value },
    };
  });
}

function headerParameter({ name, description, schema, example }: RequestHeader) {
  return { name, in: "header", description, schema, example };
}

/** A body that is a file, as it is. */
function fileBody(description: string) {
  return { description, required: true, content: { "*/*": { schema: { type: "string", format: "binary" } } } };
}

function requestBody(body: RequestBodySpec, definitions: Definitions) {
  const { name, schema, descriptions, keywords = {}, mayBeEmpty = false } = body;
  const requested = requestSchema(schema, descriptions);
  for (const [field, more] of Object.entries(keywords)) Object.assign(requested.properties?.[field] ?? {}, more);
  definitions[name] = { title: name, description: body.description, ...requested };
  return {
    description: `${body.description} At most ${MAX_BODY / 1_024} KiB. The service reads it as JSON whatever its Content-Type.`,
    required: !mayBeEmpty,
    content: { "application/json": { schema: { $ref: reference(name) }, ...examplesOf(body) } },
  };
}

/** One example, or several by their names. The first one is that of the code samples. */
function examplesOf({ example, more }: RequestBodySpec) {
  if (!more) return { example };
  const others = Object.entries(more).map(([summary, value]) => [summary.replaceAll(" ", "-"), { summary, value }]);
  return { examples: { Plain: { summary: "Plain", value: example }, ...Object.fromEntries(others) } };
}

const warnings = z
  .array(z.string())
  .max(MAX_WARNINGS)
  .meta({
    id: "Warnings",
    description: "Says which fields of the body the route does not have, and has ignored. Absent if there are none",
  })
  .exactOptional();

/** The response to a request with a body: an object with one more field. */
function withWarnings(response: ResponseSpec): ResponseSpec {
  if (!("schema" in response)) return response;
  if (!(response.schema instanceof z.ZodObject)) throw new Error("a response with warnings is an object");
  return { ...response, schema: response.schema.extend({ warnings }) };
}

function writeResponse(response: ResponseSpec, defaults: GroupDefaults, definitions: Definitions) {
  const { description, headers: own } = response;
  const headers = { ...always(["X-Request-Id", ...(defaults.limited ? LIMIT_HEADERS : [])]), ...own };
  if ("empty" in response) return { description, headers };
  if ("contentType" in response) {
    const { contentType, part } = response;
    const text = part ? { schema: textOf(part, definitions) } : {};
    return { description, headers, content: Object.fromEntries([contentType].flat().map((type) => [type, text])) };
  }
  const { schema, example } = response;
  return {
    description,
    headers,
    content: { "application/json": { schema: responseSchema(schema, definitions), example } },
  };
}

/** A text with many parts. OpenAPI 3.1 can't describe it as a list, so `contentSchema` is the schema of one part. */
function textOf(part: z.ZodType, definitions: Definitions): JsonSchema {
  return { type: "string", contentMediaType: "application/json", contentSchema: responseSchema(part, definitions) };
}

function errorResponses(
  codes: ErrorCode[],
  { limited, suffix = "" }: GroupDefaults,
  { schemas, responses }: Components,
) {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => {
      const name = `${ofStatus.map(pascalCase).join("Or")}${suffix}`;
      responses[name] ??= {
        description: errorDescription(ofStatus),
        headers: errorHeaders(status, limited, ofStatus.includes("cross_site")),
        content: errorContent(ofStatus, schemas),
      };
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

/**
 * A 429 for an address has the headers of its own limit. A 5xx can come before the key's rate limit is known.
 * @param isEarly whether this error can come before it too
 */
function errorHeaders(status: number, limited: boolean, isEarly: boolean): Record<string, object> {
  const names: HeaderName[] = ["X-Request-Id"];
  if (status === 401) names.push("WWW-Authenticate");
  if (status === 429 || status === 503) names.push("Retry-After");
  if (status === 429) names.push(...LIMIT_HEADERS.filter((name) => name.startsWith("X-")));
  if (!limited || status === 401) return always(names);
  const others = LIMIT_HEADERS.filter((name) => !names.includes(name));
  if (status === 429 || status >= 500 || isEarly) return { ...always(names), ...sometimes(others) };
  return always([...names, ...others]);
}
