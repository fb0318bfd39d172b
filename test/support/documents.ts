import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";
import { ERRORS, type ErrorCode } from "../../src/model/error.ts";
import { errorSchema, UNMATCHED_CODES } from "../../src/openapi/errors.ts";

declare global {
  /** Test files that share a runtime load this module again. They parse 1.7 MB and prepare each schema once. */
  var preparedDocuments: Prepared | undefined;
}

interface Prepared {
  documents: Documents;
  operations: KnownOperation[];
  /** By the place of the schema. */
  validators: Map<string, Validator>;
}

interface Reference {
  $ref?: string;
}

interface Header {
  required: boolean;
  schema: Schema;
}

interface Described {
  headers: Record<string, Header & Reference>;
  content?: Record<string, { schema?: Schema; examples?: Record<string, { value: object }> }>;
}

interface DescribedOperation {
  parameters: { name: string; in: string; schema: Schema }[];
  requestBody?: { required: boolean; content: { "application/json"?: { schema: Schema } } };
  responses: Record<string, Described & Reference>;
}

export interface OpenApi {
  servers: { url: string }[];
  paths: Record<string, Record<string, DescribedOperation> & { servers?: { url: string }[] }>;
  components: {
    headers: Record<string, Header>;
    responses: Record<string, Described>;
    schemas: Record<string, Schema>;
  };
}

type Documents = { public: OpenApi; operator: OpenApi };

const committed = (globalThis.preparedDocuments ??= prepared({
  public: JSON.parse((await import("../../src/openapi/public.json?raw")).default),
  operator: JSON.parse((await import("../../src/openapi/operator.json?raw")).default),
}));
/** What responses are compared to. */
let compared = committed;

/** The committed documents, which the service also serves. */
export const DOCUMENTS: Documents = committed.documents;

/** A request and its response. `sent` is the request's body, and `received` the response's, parsed if it is JSON. */
export interface Exchange {
  method: string;
  path: string;
  requestHeaders: Record<string, string>;
  sent: unknown;
  response: Response;
  text: string;
  received: unknown;
}

interface KnownOperation {
  method: string;
  pattern: RegExp;
  name: string;
  operation: DescribedOperation;
  document: OpenApi;
}

const PREFIXES = /^\/(api|admin)\/v1(\/|$)/;

/** Until the end of the file, compares responses to these documents, for a test that changes the documents. */
export function compareTo(others: object): void {
  compared = prepared(JSON.parse(JSON.stringify(others)) as Documents);
}

function prepared(documents: Documents): Prepared {
  return { documents, operations: Object.values(documents).flatMap(operationsOf), validators: new Map() };
}

/** Every operation of a document by its method and full path: `GET /api/v1/chats/{id}`. */
export function operationsOf(document: OpenApi): KnownOperation[] {
  return Object.entries(document.paths).flatMap(([path, { servers = document.servers, ...operations }]) =>
    Object.entries(operations).map(([method, operation]) => {
      const whole = `${servers[0]?.url.replace(/\/$/, "")}${path}`;
      const pattern = new RegExp(`^${whole.replaceAll("/", "\\/").replace(/\{\w+\}/g, "[^/]+")}$`);
      const name = `${method.toUpperCase()} ${whole}`;
      return { method: method.toUpperCase(), pattern, name, operation: operation as DescribedOperation, document };
    }),
  );
}

/**
 * Throws if the OpenAPI documents don't describe a response: its status, required headers, content type and body. Also
 * throws if a request was accepted that the documents don't allow, and if its response warns of a field that the
 * documents have, or does not warn of another one.
 */
export function compareToDocuments(exchange: Exchange): void {
  const { method, path, response } = exchange;
  const { pathname } = new URL(`https://parley.test${path}`);
  const asked = method === "HEAD" ? "GET" : method;
  const known = compared.operations.find((each) => each.method === asked && each.pattern.test(pathname));
  const faults = known ? faultsOf(known, exchange) : faultsOfNoOperation(exchange, pathname);
  if (faults.length === 0) return;
  const what = `${method} ${path} answered ${response.status}`;
  throw new Error(`${what}, which is not as the OpenAPI document says:\n${faults.join("\n")}\n${exchange.text}`);
}

/** The faults of a request's body according to the OpenAPI documents. Empty if a client may send it. */
export function faultsOfBody(method: string, path: string, sent: object): string[] {
  const known = compared.operations.find((each) => each.method === method && each.pattern.test(path));
  if (!known) throw new Error(`${method} ${path} is no operation`);
  return requestFaults(known, { path, requestHeaders: {}, sent });
}

/** The faults of a value according to a named schema of the public document, such as a line of an export. */
export function faultsOfSchema(name: string, value: unknown): string[] {
  const { [name]: schema } = DOCUMENTS.public.components.schemas;
  if (!schema) throw new Error(`${name} is not described`);
  return faultsIn(`schema ${name}`, () => closed(withDefinitions(schema, DOCUMENTS.public)), value);
}

function faultsOf(known: KnownOperation, exchange: Exchange): string[] {
  const { operation, document } = known;
  const { status, headers, ok } = exchange.response;
  const found = operation.responses[status];
  const described = found && resolved(found, document.components.responses);
  if (!described) return [`${known.name} does not list this status`];
  return [
    ...headerFaults(described, headers, document),
    ...bodyFaults(`${known.name} ${status}`, described, exchange, document),
    ...(ok ? [...requestFaults(known, exchange), ...warningFaults(known, exchange)] : []),
  ];
}

/** Requests without an operation return an error of authentication, or of the path or the method. */
function faultsOfNoOperation({ method, response, received }: Exchange, pathname: string): string[] {
  if (!PREFIXES.test(pathname)) return [];
  const { code } = (received ?? {}) as { code?: ErrorCode };
  if (method === "HEAD") return [];
  if (!code || ERRORS[code]?.status !== response.status) return ["It is no operation, and no error that is known"];
  const ofNone: readonly ErrorCode[] = UNMATCHED_CODES;
  if (ERRORS[code].shape === "error" && !ofNone.includes(code)) return [`${code} is an operation's own error`];
  return faultsIn(`no operation: ${code}`, () => closed(errorSchema(code)), received);
}

function headerFaults({ headers: described }: Described, headers: Headers, document: OpenApi): string[] {
  return Object.entries(described).flatMap(([name, given]) => {
    const { required, schema } = resolved(given, document.components.headers);
    const value = headers.get(name);
    if (value === null) return required ? [`The header ${name} is missing`] : [];
    return faultsIn(`header ${name}`, () => schema, typed(value, schema)).map((fault) => `${name}: ${fault}`);
  });
}

function bodyFaults(name: string, { content }: Described, { method, response, text, received }: Exchange, of: OpenApi) {
  if (method === "HEAD") return [];
  if (!content) return text === "" ? [] : ["It has a body"];
  const type = response.headers.get("Content-Type");
  const media = content["*/*"] ?? content[type ?? ""];
  if (!media) return [`The content type ${type} is not described`];
  const { schema } = media;
  if (!schema) return [];
  const { contentSchema } = schema as { contentSchema?: Schema };
  if (!contentSchema) return faultsIn(name, () => closed(withDefinitions(schema, of)), received);
  // A text of many parts. A stream's is compared by the tests that read it.
  const lines = type === "application/x-ndjson" ? text.split("\n").filter(Boolean) : [];
  return lines.flatMap((line) => faultsIn(name, () => closed(withDefinitions(contentSchema, of)), JSON.parse(line)));
}

function requestFaults(
  { name, operation, document }: KnownOperation,
  { path, requestHeaders, sent }: Pick<Exchange, "path" | "requestHeaders" | "sent">,
) {
  const query = new URL(`https://parley.test${path}`).searchParams;
  const headers = new Headers(requestHeaders);
  const faults = operation.parameters.flatMap((parameter) => {
    const value = parameter.in === "query" ? query.get(parameter.name) : headers.get(parameter.name);
    if (value === null || parameter.in === "path") return [];
    const { schema } = parameter;
    return faultsIn(`${name} ${parameter.name}`, () => schema, typed(value, schema)).map((fault) => `sent ${fault}`);
  });
  const { requestBody } = operation;
  const ofJson = requestBody?.content["application/json"];
  if (!requestBody || !ofJson || sent instanceof ReadableStream) return faults;
  if (sent === undefined || sent === "") return requestBody.required ? [...faults, "The body is missing"] : faults;
  const ofBody = faultsIn(`${name} body`, () => withDefinitions(ofJson.schema, document), parsedBody(sent));
  return [...faults, ...ofBody.map((fault) => `sent ${fault}`)];
}

function warningFaults({ name, operation, document }: KnownOperation, { sent, received }: Exchange): string[] {
  const ofJson = operation.requestBody?.content["application/json"];
  if (!ofJson || sent === undefined || sent === "" || sent instanceof ReadableStream) return [];
  const { warnings = [] } = (received ?? {}) as { warnings?: string[] };
  const schema = () => closed(withDefinitions(ofJson.schema, document));
  const unknown = faultsIn(`${name} body without others`, schema, parsedBody(sent));
  // The documents have the fields of all kinds of channels together.
  const ofAll = warnings.filter((text) => !/^(credentials|settings)\./.test(text));
  if (unknown.length > 0 && warnings.length === 0) return [`It does not warn: ${unknown.join(", ")}`];
  return unknown.length === 0 && ofAll.length > 0 ? [`It warns of what is known: ${ofAll.join(", ")}`] : [];
}

function parsedBody(sent: unknown): unknown {
  return JSON.parse(typeof sent === "string" ? sent.replace(/^\uFEFF/, "") : JSON.stringify(sent));
}

/** The text of a header or a query parameter as the type in its schema. */
function typed(value: string, schema: Schema): unknown {
  return schema.type === "integer" && /^-?\d+$/.test(value) ? Number(value) : value;
}

function faultsIn(name: string, schemaOf: () => Schema, value: unknown): string[] {
  const { validators } = compared;
  // It ends at the first fault, which takes a third less time. Nearly all values have none.
  let validator = validators.get(name);
  if (!validator) validators.set(name, (validator = new Validator(schemaOf(), "2020-12", true)));
  const given = wellFormed(value);
  if (validator.validate(given).valid) return [];
  const { errors } = new Validator(schemaOf(), "2020-12", false).validate(given);
  return errors.map(({ instanceLocation, error }: OutputUnit) => `${instanceLocation}: ${error}`);
}

/** The validator fails for lone surrogates, which a client can put into its own fields. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key.toWellFormed(), wellFormed(each)]));
}

function resolved<T extends object>(value: T & Reference, among: Record<string, T>): T {
  return value.$ref === undefined ? value : (among[value.$ref.split("/").at(-1) ?? ""] as T);
}

/** A schema with everything that it refers to. */
function withDefinitions(schema: Schema, { components }: OpenApi): Schema {
  const $defs: Record<string, Schema> = {};
  const take = (text: string) => {
    for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      const definition = components.schemas[name];
      if (name in $defs || !definition) continue;
      $defs[name] = definition;
      take(JSON.stringify(definition));
    }
  };
  take(JSON.stringify(schema));
  return JSON.parse(JSON.stringify({ ...schema, $defs }).replaceAll("#/components/schemas/", "#/$defs/"));
}

/** A client must accept unknown fields, and a test must not. */
function closed<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(closed) as T;
  if (typeof schema !== "object" || schema === null) return schema;
  const all = Object.fromEntries(Object.entries(schema).map(([key, each]) => [key, closed(each)]));
  const isObject = typeof all.properties === "object" && [all.type].flat().includes("object");
  return (isObject ? { additionalProperties: false, ...all } : all) as T;
}
