import { escapeHtml } from "../../http/html.ts";
import { nameOf, type Schema } from "./document.ts";
import { inline } from "./markup.ts";

/** The named schemas of a document. */
export type Schemas = Readonly<Record<string, Schema>>;

/** What a schema's value is, in a few words: `string, 1 to 64 characters`. */
export function kindOf(schema: Schema): string {
  if (schema.$ref) return nameOf(schema.$ref);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(kindOf).join(" or ");
  if (schema.const !== undefined) return `<code>${escapeHtml(schema.const)}</code>`;
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
    // The highest number that a program can count to is no bound that a reader must know.
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

function valuesOf({ enum: values, default: usual }: Schema): string {
  const listed = values?.filter((value) => value !== null).map((value) => `<code>${escapeHtml(value)}</code>`);
  return (
    (listed ? `: ${listed.join(", ")}` : "") +
    (usual === undefined ? "" : `; default <code>${escapeHtml(JSON.stringify(usual))}</code>`)
  );
}

/** What stands around a field. */
interface Setting {
  schemas: Schemas;
  /** Fields of a response are present unless they are optional, so none is marked as required. */
  isResponse: boolean;
}

/** A field or a parameter: its name, its kind, whether it is required, and what it means. Objects inside unfold. */
export function field(
  name: string,
  schema: Schema,
  required: boolean,
  setting: Setting,
  { description = schema.description ?? "", where = "" } = {},
): string {
  const kind = (where && `${where}, `) + kindOf(schema);
  const must = required && !setting.isResponse ? ` <strong class="required">required</strong>` : "";
  return `<dt><code>${escapeHtml(name)}</code> <span class="kind">${kind}</span>${must}</dt>
<dd>${inline(description)}${objectsIn(schema, setting.schemas)
    .map((each) => unfolding(each, setting))
    .join("")}</dd>`;
}

/** The fields of an object. */
export function fields({ properties = {}, required = [] }: Schema, setting: Setting): string {
  const lines = Object.entries(properties).map(([name, each]) => field(name, each, required.includes(name), setting));
  return lines.length === 0 ? "" : `<dl class="fields">${lines.join("\n")}</dl>`;
}

/** An object's fields behind its name. Those of a body are open, for a caller must know them. */
function unfolding({ name, schema }: NamedSchema, setting: Setting): string {
  return `<details${setting.isResponse ? "" : " open"}><summary>${name ? `Fields of ${name}` : "Fields"}</summary>${fields(schema, setting)}</details>`;
}

interface NamedSchema {
  name: string;
  schema: Schema;
}

/** The objects with fields of their own that a value is, holds or can be. */
function objectsIn(schema: Schema, schemas: Schemas, name = ""): NamedSchema[] {
  if (schema.$ref) return objectsIn(schemas[nameOf(schema.$ref)] ?? {}, schemas, nameOf(schema.$ref));
  if (schema.properties) return [{ name, schema }];
  const inside = [...(schema.anyOf ?? schema.oneOf ?? []), ...(schema.items ? [schema.items] : [])];
  return inside.flatMap((each) => objectsIn(each, schemas));
}
