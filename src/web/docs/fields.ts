import { escapeHtml } from "../../escape-html.ts";
import { nameOf, type OpenApi, routesOf, type Schema } from "./document.ts";
import { inline } from "./markup.ts";

/** What a schema's value is, in a few words with links: `string, 1 to 64 characters`. */
export function kindOf(schema: Schema): string {
  if (schema.$ref) return linkTo(nameOf(schema.$ref));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(kindOf).join(" or ");
  if (schema.const !== undefined) return `<code>${escapeHtml(schema.const)}</code>`;
  const types = [schema.type ?? []].flat();
  const plain = types.filter((type) => type !== "null").join(" or ") || "any value";
  const listed = schema.items ? `list of ${kindOf(schema.items)}` : plain;
  const { additionalProperties: values } = schema;
  const pairs =
    typeof values === "object" && values.type && !schema.properties ? `object of ${kindOf(values)}` : listed;
  const format = schema.format ? ` (${escapeHtml(schema.format)})` : "";
  const bounds = boundsOf(schema);
  return pairs + format + (bounds && `, ${bounds}`) + (types.includes("null") ? ", or null" : "") + valuesOf(schema);
}

function linkTo(name: string): string {
  return `<a href="#schema-${name}">${name}</a>`;
}

function boundsOf({ minimum, maximum, minLength, maxLength, maxItems, maxProperties }: Schema): string {
  const words = (least: number | undefined, most: number | undefined, what: string) => {
    const [low, high] = [least?.toLocaleString("en"), most?.toLocaleString("en")];
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
    (usual === undefined ? "" : `; ${escapeHtml(JSON.stringify(usual))} unless given`)
  );
}

/**
 * A field or a parameter: what it is, whether it must be there, what it means, and of a parameter where it stands;
 * `given` as for the fields of an object.
 */
export function field(
  name: string,
  schema: Schema,
  required: boolean,
  { description = schema.description ?? "", where = "", given = false } = {},
): string {
  const kind = (where && `${where}, `) + kindOf(schema);
  const must = required ? ` <strong class="required">required</strong>` : "";
  return `<dt><code>${escapeHtml(name)}</code> <span class="kind">${kind}</span>${must}</dt>
<dd>${inline(description)}${schema.properties ? fields(schema, given) : ""}</dd>`;
}

/** The fields of an object; `given`: of an answer, where all but the optional ones are always there. */
export function fields(schema: Schema, given: boolean): string {
  const { properties = {}, required = [] } = schema;
  const lines = Object.entries(properties).map(([name, each]) =>
    field(name, each, !given && required.includes(name), { given }),
  );
  return lines.length === 0 ? "" : `<dl class="fields">${lines.join("\n")}</dl>`;
}

/** The schemas that answers hold, without those of errors and of requests. */
export function answerSchemas(document: OpenApi): [string, Schema][] {
  const bodies = document.tags
    .flatMap(({ name }) => routesOf(document, name))
    .map(({ operation }) => {
      return nameOf(operation.requestBody?.content["application/json"].schema?.$ref ?? "");
    });
  return Object.entries(document.components.schemas).filter(
    ([name]) => !name.endsWith("Error") && !bodies.includes(name),
  );
}
