import * as z from "zod";
import type * as core from "zod/v4/core";
import type { Permission } from "../db/schema.ts";
import { ERRORS, type ErrorCode } from "../http/errors.ts";
import { MAX_BODY } from "../http/validation.ts";
import { errorContent, errorDescription, pascalCase } from "./errors.ts";
import * as examples from "./examples.ts";
import { always, type HeaderName, LIMIT_HEADERS, sometimes } from "./headers.ts";
import { type Definitions, givenBy, type JsonSchema, reference, takenBy } from "./json-schema.ts";

/** One route, as its document tells of it. */
export interface Operation {
  method: "get" | "post" | "patch" | "delete";
  /** As OpenAPI writes it: `/chats/{id}`. */
  path: string;
  id: string;
  tag: string;
  summary: string;
  description: string;
  /** What a key must be allowed; null: nothing. Operators' routes ask for no permission. */
  permission?: Permission | null;
  query?: Query;
  /** Headers that a client may send. */
  headers?: readonly RequestHeader[];
  body?: Body;
  answers: readonly Answer[];
  /** The errors that are its own, beside those that any route of its document may answer. */
  errors?: readonly ErrorCode[];
}

interface Query {
  schema: core.$ZodObject;
  /** What each parameter means; those that are not named here are left out. */
  descriptions: Record<string, string>;
  /** Keywords for what the schema checks in code, by the parameter's name. */
  keywords?: Record<string, JsonSchema>;
}

interface RequestHeader {
  name: string;
  description: string;
  schema: JsonSchema;
  example: string;
}

/** The body of a request: the schema that validates it, and what the schema does not say. */
export interface Body {
  name: string;
  description: string;
  schema: core.$ZodType;
  descriptions: Record<string, string>;
  /** Keywords for what the schema checks in code, by the field's name. */
  keywords?: Record<string, JsonSchema>;
  example: object;
  /** Whether an empty body counts as `{}`. */
  mayBeEmpty?: boolean;
}

/** One answer that is no error. */
export type Answer = { status: number; description: string; headers?: Record<string, object> } & (
  | { schema: z.ZodType; example: object }
  | { contentType: string }
  | { empty: true }
);

/** An answer in JSON, with an example of its type. */
export function answered<Schema extends z.ZodType>(
  status: number,
  description: string,
  schema: Schema,
  example: z.output<Schema> & object,
  headers: Record<string, object> = {},
): Answer {
  return { status, description, schema, example, headers };
}

/** What all operations of a document have in common. */
export interface Scope {
  /** Errors of whoever is not let in, and of the service itself. */
  errors: readonly ErrorCode[];
  /** Whether answers carry a key's limits. */
  limited: boolean;
  /** Ends the names of its error answers where a document has others with the same codes. */
  suffix?: string;
}

/** What an operation refers to: a document's `components`. */
export interface Components {
  schemas: Definitions;
  responses: Record<string, object>;
}

/** What a path's parameters are, by what stands before them. */
const IDS: Record<string, { description: string; example: string }> = {
  organizations: { description: "The organization's id.", example: examples.organization.id },
  members: { description: "The member's id.", example: examples.member.id },
  channels: { description: "The channel's id.", example: examples.channel.id },
  templates: { description: "The template's id.", example: examples.template.id },
  chats: { description: "The chat's id.", example: examples.chat.id },
  messages: { description: "The message's id.", example: examples.message.id },
  keys: { description: "The key's id.", example: examples.key.id },
  web: { description: "The web channel's id.", example: examples.channel.id },
};

/** An operation as OpenAPI writes it; what it refers to is put into `components`. */
export function written(operation: Operation, scope: Scope, components: Components) {
  const { schemas } = components;
  const { id, tag, summary, description, permission, query, headers = [], body, answers } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: permission ? `${description}\n\nThe key needs the permission \`${permission}\`.` : description,
    parameters: [...pathParameters(operation.path), ...queryParameters(query), ...headers.map(headerParameter)],
    ...(body && { requestBody: requestBody(body, schemas) }),
    responses: {
      ...Object.fromEntries(answers.map((answer) => [answer.status, writtenAnswer(answer, scope, schemas)])),
      ...errorAnswers(errorsOf(operation, scope), scope, components),
    },
  };
}

/** Every error that an operation may answer. */
export function errorsOf({ permission, body, errors = [] }: Operation, scope: Scope): ErrorCode[] {
  const codes = new Set<ErrorCode>([...scope.errors, ...errors]);
  if (permission === null) codes.delete("permission_denied");
  if (body) codes.add("body_too_large").add("media_type");
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

function pathParameters(path: string) {
  return [...path.matchAll(/([^/]+)\/\{(\w+)\}/g)].map(([, kind = "", name]) => ({
    name,
    in: "path",
    required: true,
    ...IDS[kind],
    schema: { type: "string" },
  }));
}

function queryParameters(query: Query | undefined) {
  if (!query) return [];
  const defaults = z.safeParse(query.schema, {}).data as Record<string, unknown>;
  const all = Object.keys(query.schema._zod.def.shape);
  const taken = takenBy(query.schema, Object.fromEntries(all.map((name) => [name, query.descriptions[name] ?? ""])));
  return Object.entries(query.descriptions).map(([name, description]) => {
    const { description: _, ...own } = taken.properties?.[name] ?? {};
    const schema = { ...own, ...query.keywords?.[name] };
    const value = defaults[name];
    return { name, in: "query", description, schema: value === undefined ? schema : { ...schema, default: value } };
  });
}

function headerParameter({ name, description, schema, example }: RequestHeader) {
  return { name, in: "header", description, schema, example };
}

function requestBody(body: Body, definitions: Definitions) {
  const { name, schema, descriptions, keywords = {}, example, mayBeEmpty = false } = body;
  const taken = takenBy(schema, descriptions);
  for (const [field, more] of Object.entries(keywords)) Object.assign(taken.properties?.[field] ?? {}, more);
  definitions[name] = { title: name, description: body.description, ...taken };
  return {
    description: `${body.description} At most ${MAX_BODY / 1_024} KiB, read as JSON whatever its Content-Type says.`,
    required: !mayBeEmpty,
    content: { "application/json": { schema: { $ref: reference(name) }, example } },
  };
}

function writtenAnswer(answer: Answer, scope: Scope, definitions: Definitions) {
  const { description, headers: own } = answer;
  const headers = { ...always(["X-Request-Id", ...(scope.limited ? LIMIT_HEADERS : [])]), ...own };
  if ("empty" in answer) return { description, headers };
  if ("contentType" in answer) return { description, headers, content: { [answer.contentType]: {} } };
  const { schema, example } = answer;
  return { description, headers, content: { "application/json": { schema: givenBy(schema, definitions), example } } };
}

function errorAnswers(codes: ErrorCode[], { limited, suffix = "" }: Scope, { schemas, responses }: Components) {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => {
      const name = `${ofStatus.map(pascalCase).join("Or")}${suffix}`;
      responses[name] ??= {
        description: errorDescription(ofStatus),
        headers: errorHeaders(status, limited),
        content: errorContent(ofStatus, schemas),
      };
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

/** Whoever is refused by an address's count, or meets a fault, may not have come as far as the key's limits. */
function errorHeaders(status: number, limited: boolean): Record<string, object> {
  const names: HeaderName[] = ["X-Request-Id"];
  if (status === 401) names.push("WWW-Authenticate");
  if (status === 429 || status === 503) names.push("Retry-After");
  if (!limited || status === 401) return always(names);
  if (status === 429 || status >= 500) return { ...always(names), ...sometimes(LIMIT_HEADERS) };
  return always([...names, ...LIMIT_HEADERS]);
}
