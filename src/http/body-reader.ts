import type * as z from "zod/mini";
import type * as core from "zod/v4/core";
import { variablesBody } from "../model/field.ts";

/** The names and indices that lead to a value in a body. */
export type Path = readonly string[];

/** What a valid body has that its schema says nothing about. */
export interface Found {
  /** Fields that the schema does not have, each by its path. */
  unknown: Path[];
  /** Numbers that become text. */
  numbers: Path[];
}

/** Looks at a value that is valid. */
type Look = (value: unknown, path: Path, found: Found) => void;

/**
 * What to look for in a schema's valid values: unknown fields at any depth, and numbers among the values of placeholders.
 * A schema is read once, so that a body costs one lookup for each field.
 * @returns null if its values can have neither
 */
export function bodyReader(schema: z.ZodMiniType | core.$ZodType): Look | null {
  if (schema === variablesBody) return lookAtVariables;
  const { def } = schema._zod as core.$ZodTypes["_zod"];
  switch (def.type) {
    case "object":
      return fieldsReader(def.shape);
    case "record":
      return recordReader(bodyReader(def.valueType));
    case "array":
      return listReader(bodyReader(def.element));
    case "union":
      return optionsReader(def.options, "discriminator" in def ? String(def.discriminator) : null);
    case "pipe":
      return bodyReader(def.in) ?? bodyReader(def.out);
    case "nullable":
    case "optional":
    case "default":
      return bodyReader(def.innerType);
    default:
      return null;
  }
}

function fieldsReader(shape: core.$ZodShape): Look {
  const fields = new Map(Object.entries(shape).map(([name, field]) => [name, bodyReader(field)]));
  return (value, path, found) => {
    if (!isObject(value)) return;
    for (const name of Object.keys(value)) {
      const look = fields.get(name);
      if (look === undefined) found.unknown.push([...path, name]);
      else look?.(value[name], [...path, name], found);
    }
  };
}

/** Any name is one of a record, but `__proto__`, which zod drops. */
function recordReader(look: Look | null): Look {
  return (value, path, found) => {
    if (!isObject(value)) return;
    if (Object.hasOwn(value, "__proto__")) found.unknown.push([...path, "__proto__"]);
    if (look) for (const name of Object.keys(value)) look(value[name], [...path, name], found);
  };
}

function listReader(look: Look | null): Look | null {
  if (look === null) return null;
  return (value, path, found) => {
    if (!Array.isArray(value)) return;
    for (const [index, item] of value.entries()) look(item, [...path, String(index)], found);
  };
}

/**
 * Alternatives of which one is an object, such as a text and an object, or objects that a field tells apart, such as the
 * types of a choice.
 */
function optionsReader(options: readonly core.$ZodType[], discriminator: string | null): Look | null {
  const looks = options.map((option) => ({ option, look: bodyReader(option) }));
  const [only, ...others] = looks.filter(({ look }) => look !== null);
  if (others.length === 0) return only?.look ?? null;
  if (discriminator === null) throw new Error("a union of objects needs a discriminator");
  return (value, path, found) => {
    if (!isObject(value)) return;
    const kind = value[discriminator] as core.util.Primitive;
    const chosen = looks.find(({ option }) => option._zod.propValues?.[discriminator]?.has(kind));
    chosen?.look?.(value, path, found);
  };
}

function lookAtVariables(value: unknown, path: Path, { numbers }: Found): void {
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) if (typeof value[name] === "number") numbers.push([...path, name]);
}

/** Whether a parsed value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
