/** The parts of an OpenAPI document that the pages use. */
export interface OpenApi {
  info: { title: string; version: string; summary: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation> & { servers?: { url: string }[] }>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, Response>;
    headers: Record<string, Header>;
  };
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security?: object[];
  parameters: Parameter[];
  requestBody?: { description: string; required: boolean; content: { "application/json"?: Media; "*/*"?: Media } };
  responses: Record<string, Response | Reference>;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description: string;
  schema: Schema;
  example?: string;
}

export interface Response {
  description: string;
  headers?: Record<string, Header | Reference>;
  content?: Record<string, Media>;
}

interface Header {
  description: string;
}

interface Media {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { summary: string; value: unknown }>;
}

interface Reference {
  $ref: string;
}

/** JSON Schema, as far as the documents use it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: (string | null)[];
  const?: string | boolean;
  format?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  maxProperties?: number;
}

/** An operation with its method and path. */
export interface Route {
  method: string;
  /** The full path: `/api/v1/chats/{id}`. */
  path: string;
  operation: Operation;
}

/** All operations with a tag, in the order of the document. */
export function routesOf(document: OpenApi, tag: string): Route[] {
  return Object.entries(document.paths).flatMap(([path, { servers = document.servers, ...operations }]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => {
        const base = servers[0]?.url.replace(/\/$/, "") ?? "";
        return { method: method.toUpperCase(), path: base + path, operation };
      }),
  );
}

/** The target of a reference, or the value itself. */
export function resolved<T extends object>(value: T | Reference, among: Record<string, T>): T {
  return "$ref" in value && typeof value.$ref === "string" ? (among[nameOf(value.$ref)] as T) : (value as T);
}

/** The last part of a reference: `Chat`. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}
