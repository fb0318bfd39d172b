import * as z from "zod";
import type * as core from "zod/v4/core";
import { notBlank, notBlankIfGiven } from "../http/fields.ts";

/** A JSON Schema of the draft 2020-12, as OpenAPI 3.1 wants it. */
export interface JsonSchema {
  [keyword: string]: unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

/** The schemas that a document's `components` hold, by their names. */
export type Definitions = Record<string, JsonSchema>;

/**
 * What a request's schema takes. `descriptions` name each field by its dotted path, those of a list's items by that of
 * the list; the schema's own code must not carry them.
 */
export function takenBy(schema: core.$ZodType, descriptions: Record<string, string>): JsonSchema {
  const taken = toJson(schema, { io: "input" });
  const left = new Set(Object.keys(descriptions));
  describeFields(taken, "", (path) => {
    left.delete(path);
    return descriptions[path];
  });
  if (left.size > 0) throw new Error(`No such fields: ${[...left].join(", ")}`);
  return taken;
}

/** The names of the fields that a request's schema takes. */
export function namesIn(schema: core.$ZodType): string[] {
  return Object.keys(toJson(schema, { io: "input" }).properties ?? {});
}

/** What an answer's schema gives; the schemas with an id that it refers to are put into `definitions`. */
export function givenBy(schema: core.$ZodType, definitions: Definitions): JsonSchema {
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
  const made = z.toJSONSchema(schema, {
    ...options,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const seen = asRead(zodSchema);
      if (seen) {
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
        Object.assign(jsonSchema, seen);
      }
      const checks: readonly unknown[] = zodSchema._zod.def.checks ?? [];
      if (checks.includes(notBlank) || checks.includes(notBlankIfGiven)) Object.assign(jsonSchema, NOT_BLANK);
      // A client must bear fields that are added later.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  const { $schema: _, ...rest } = made as JsonSchema;
  if (options.io === "output") return tidy(JSON.parse(JSON.stringify(rest).replaceAll(SAFE, ""))) as JsonSchema;
  return tidy(rest) as JsonSchema;
}

/** What zod says of any integer, and tells nobody anything of those that are answered. */
const SAFE = `,"maximum":${Number.MAX_SAFE_INTEGER}`;
const NOT_BLANK = { minLength: 1, pattern: "\\S" };

/**
 * Where a schema takes something wider and narrows it in a second step, what the second step takes: pairs that were
 * looked at first, and the integers of a query, which come as text.
 */
function asRead(schema: core.$ZodType): JsonSchema | null {
  const { def } = schema._zod as core.$ZodPipe["_zod"];
  if (def.type !== "pipe") return null;
  const [first, second] = [def.in._zod.def.type, def.out as core.$ZodType];
  if (first === "unknown") return toJson(second, { io: "input" });
  const last = first === "string" && second._zod.def.type === "pipe" ? (second as core.$ZodPipe)._zod.def.out : null;
  return last && { ...toJson(last, { io: "input" }), type: "integer" };
}

/** Says `null` in one line where a schema may be that, and refers to where the named schemas are. */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [
    key,
    key === "$ref" ? referred(String(each)) : tidy(each),
  ]);
  const { anyOf, ...rest } = Object.fromEntries(entries) as JsonSchema & { anyOf?: JsonSchema[] };
  // Any name is a string.
  if (JSON.stringify(rest.propertyNames) === '{"type":"string"}') delete rest.propertyNames;
  if (!anyOf) return withoutListOfTypes(rest);
  const [one, other] = anyOf;
  if (anyOf.length !== 2 || !one || other?.type !== "null" || typeof one.type !== "string") return { ...rest, anyOf };
  const values = Array.isArray(one.enum) ? { enum: [...one.enum, null] } : {};
  return { ...one, ...values, type: [one.type, "null"], ...rest };
}

/** Generators of clients read `anyOf`, but no list of types, unless its second one is null. */
function withoutListOfTypes(schema: JsonSchema): JsonSchema {
  const { type, ...rest } = schema;
  if (!Array.isArray(type) || (type.length === 2 && type[1] === "null")) return schema;
  return { anyOf: type.map((each) => ({ type: each })), ...rest };
}

function referred(place: string): string {
  return place.replace("#/$defs/", reference(""));
}

function describeFields(schema: JsonSchema, within: string, descriptionOf: (path: string) => string | undefined): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const path = within === "" ? name : `${within}.${name}`;
    const description = descriptionOf(path);
    if (description === undefined) throw new Error(`${path} has no description`);
    field.description = description;
    describeFields(field, path, descriptionOf);
  }
}
