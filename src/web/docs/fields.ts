import { escapeHtml } from "../../platform/html.ts";
import { nameOf, type Schema } from "./document.ts";
import { inline } from "./markup.ts";

/** The named schemas of a document. */
export type Schemas = Readonly<Record<string, Schema>>;

/** A short description of a schema: `string, 1 to 64 characters`. */
export function kindOf(schema: Schema): string {
  if (schema.$ref) return nameOf(schema.$ref);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(kindOf))].join(" or ");
  if (schema.const !== undefined) return `<code>${escapeHtml(String(schema.const))}</code>`;
  const types = [schema.type ?? []].flat();
  const plain = types.filter((type) => type !== "null").join(" or ") || "any value";
  const listed = schema.items ? `list of ${kindOf(schema.items)}` : plain;
  const { additionalProperties: values } = schema;
  const pairs =
    typeof values === "object" && (values.type ?? values.anyOf) && !schema.properties
      ? `object of ${kindOf(values)}`
      : listed;
  const format = schema.format ? ` (${escapeHtml(schema.format)})` : "";
  const bounds = boundsOf(schema);
  return pairs + format + (bounds && `, ${bounds}`) + (types.includes("null") ? ", or null" : "") + valuesOf(schema);
}

function boundsOf({ minimum, maximum, minLength, maxLength, maxItems, maxProperties }: Schema): string {
  const words = (least: number | undefined, most: number | undefined, what: string) => {
    const low = least?.toLocaleString("en");
    // The highest safe integer means that there is no limit.
    const high = most !== undefined && most < 1e12 ? most.toLocaleString("en") : undefined;
    if (high === undefined) return low === undefined || least === 0 ? "" : `at least ${low}${what}`;
    return low === undefined ? `at most ${high}${what}` : `${low} to ${high}${what}`;
  };
  return [
    words(minimum, maximum, ""),
    words(minLength, maxLength, " characters"),
    words(undefined, maxItems, " items"),
    words(undefined, maxProperties, " pairs"),
  ]
    .filter(Boolean)
    .join(", ");
}

function valuesOf({ enum: values, default: initial }: Schema): string {
  const listed = values?.filter((value) => value !== null).map((value) => `<code>${escapeHtml(value)}</code>`);
  return (
    (listed ? `: ${listed.join(", ")}` : "") +
    (initial === undefined ? "" : `; default <code>${escapeHtml(JSON.stringify(initial))}</code>`)
  );
}

/** The context of a field. */
interface FieldContext {
  schemas: Schemas;
  /** Fields of a response are not marked as required. */
  isResponse: boolean;
}

/** A field or a parameter: its name, kind, description, and whether it is required. Nested objects unfold. */
export function fieldItem(
  name: string,
  schema: Schema,
  required: boolean,
  context: FieldContext,
  { description = schema.description ?? "", where = "" } = {},
): string {
  const kind = (where && `${where}, `) + kindOf(schema);
  const must = required && !context.isResponse ? ` <strong class="required">required</strong>` : "";
  return `<dt><code>${escapeHtml(name)}</code> <span class="kind">${kind}</span>${must}</dt>
<dd>${inline(description)}${objectsIn(schema, context.schemas)
    .map((each) => unfolding(each, context))
    .join("")}</dd>`;
}

export function fieldList({ properties = {}, required = [] }: Schema, context: FieldContext): string {
  const lines = Object.entries(properties).map(([name, each]) =>
    fieldItem(name, each, required.includes(name), context),
  );
  return lines.length === 0 ? "" : `<dl class="fields">${lines.join("\n")}</dl>`;
}

/** An object's fields, which unfold. In a request body they are open from the start. */
function unfolding({ name, schema }: NamedSchema, context: FieldContext): string {
  return `<details${context.isResponse ? "" : " open"}><summary>${name ? `Fields of ${name}` : "Fields"}</summary>${fieldList(schema, context)}</details>`;
}

interface NamedSchema {
  name: string;
  schema: Schema;
}

/** The objects in a schema that have named fields: itself, its items, or its alternatives. */
function objectsIn(schema: Schema, schemas: Schemas, name = ""): NamedSchema[] {
  if (schema.$ref) return objectsIn(schemas[nameOf(schema.$ref)] ?? {}, schemas, nameOf(schema.$ref));
  // The type distinguishes the alternatives.
  if (schema.properties) return [{ name: name || String(schema.properties.type?.const ?? ""), schema }];
  const inside = [...(schema.anyOf ?? schema.oneOf ?? []), ...(schema.items ? [schema.items] : [])];
  return inside.flatMap((each) => objectsIn(each, schemas));
}
