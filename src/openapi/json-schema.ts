import * as z from "zod";
import type * as core from "zod/v4/core";
import { notBlank, notBlankIfGiven } from "../model/field.ts";

/** A JSON Schema of draft 2020-12, which OpenAPI 3.1 uses. */
export interface JsonSchema {
  [keyword: string]: unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  oneOf?: JsonSchema[];
  anyOf?: JsonSchema[];
}

/** The schemas in a document's `components`, by name. */
export type Definitions = Record<string, JsonSchema>;

/**
 * The JSON Schema of a request. `descriptions` has an entry for the dotted path of each field: `contacts[].name` for
 * those in a list, whichever alternative of its items they are in. They are kept here, so that the Worker's bundle
 * doesn't contain them.
 */
export function requestSchema(schema: core.$ZodType, descriptions: Record<string, string>): JsonSchema {
  const json = toJson(schema, { io: "input" });
  const left = new Set(Object.keys(descriptions));
  describeFields(json, "", (path) => {
    left.delete(path);
    return descriptions[path];
  });
  if (left.size > 0) throw new Error(`No such fields: ${[...left].join(", ")}`);
  return json;
}

/** The names of a request's fields. */
export function fieldNames(schema: core.$ZodType): string[] {
  return Object.keys(toJson(schema, { io: "input" }).properties ?? {});
}

/** The JSON Schema of a response. Adds the named schemas that it refers to to `definitions`. */
export function responseSchema(schema: core.$ZodType, definitions: Definitions): JsonSchema {
  const { $defs = {}, ...given } = toJson(schema, { io: "output" });
  for (const [name, { id: _, ...definition }] of Object.entries($defs as Definitions)) definitions[name] = definition;
  const { id, ...rest } = given;
  if (typeof id !== "string") return rest;
  definitions[id] = rest;
  return { $ref: reference(id) };
}

export function reference(name: string): string {
  return `#/components/schemas/${name}`;
}

function toJson(schema: core.$ZodType, options: core.ToJSONSchemaParams): JsonSchema {
  const json = z.toJSONSchema(schema, {
    ...options,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const parsed = parsedSchema(zodSchema);
      if (parsed) {
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
        Object.assign(jsonSchema, parsed);
      }
      const checks: readonly unknown[] = zodSchema._zod.def.checks ?? [];
      if (checks.includes(notBlank) || checks.includes(notBlankIfGiven)) Object.assign(jsonSchema, NOT_BLANK);
      // Clients must accept fields that are added later.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  const { $schema: _, ...rest } = json as JsonSchema;
  if (options.io === "output")
    return simplify(JSON.parse(JSON.stringify(rest).replaceAll(SAFE_INTEGER_MAXIMUM, ""))) as JsonSchema;
  return simplify(rest) as JsonSchema;
}

/** zod adds this maximum to every integer. In a response it means nothing. */
const SAFE_INTEGER_MAXIMUM = `,"maximum":${Number.MAX_SAFE_INTEGER}`;
const NOT_BLANK = { minLength: 1, pattern: "\\S" };

/**
 * If a schema parses in two steps, the documents describe the second one: metadata, which is checked first, and the
 * integers of a query, which arrive as text.
 */
function parsedSchema(schema: core.$ZodType): JsonSchema | null {
  const { def } = schema._zod as core.$ZodPipe["_zod"];
  if (def.type !== "pipe") return null;
  const [first, second] = [def.in._zod.def.type, def.out as core.$ZodType];
  if (first === "unknown") return toJson(second, { io: "input" });
  const last = first === "string" && second._zod.def.type === "pipe" ? (second as core.$ZodPipe)._zod.def.out : null;
  return last && { ...toJson(last, { io: "input" }), type: "integer" };
}

/** Writes nullable types as one type list, and points references to `components`. */
function simplify(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplify);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [
    key,
    key === "$ref" ? componentReference(String(each)) : simplify(each),
  ]);
  const { anyOf, ...rest } = Object.fromEntries(entries) as JsonSchema & { anyOf?: JsonSchema[] };
  // Property names are always strings.
  if (JSON.stringify(rest.propertyNames) === '{"type":"string"}') delete rest.propertyNames;
  if (!anyOf) return withoutListOfTypes(rest);
  const [one, other] = anyOf;
  if (anyOf.length !== 2 || !one || other?.type !== "null" || typeof one.type !== "string") return { ...rest, anyOf };
  const values = Array.isArray(one.enum) ? { enum: [...one.enum, null] } : {};
  return { ...one, ...values, type: [one.type, "null"], ...rest };
}

/** Client generators understand `anyOf`, but not a list of types unless the second one is null. */
function withoutListOfTypes(schema: JsonSchema): JsonSchema {
  const { type, ...rest } = schema;
  if (!Array.isArray(type) || (type.length === 2 && type[1] === "null")) return schema;
  return { anyOf: type.map((each) => ({ type: each })), ...rest };
}

function componentReference(definition: string): string {
  return definition.replace("#/$defs/", reference(""));
}

function describeFields(schema: JsonSchema, within: string, descriptionOf: (path: string) => string | undefined): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const path = within === "" ? name : `${within}.${name}`;
    const description = descriptionOf(path);
    if (description === undefined) throw new Error(`${path} has no description`);
    field.description = description;
    describeFields(field, path, descriptionOf);
  }
  for (const each of [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]) describeFields(each, within, descriptionOf);
  if (schema.items) describeFields(schema.items, `${within}[]`, descriptionOf);
}
