import * as z from "zod";

/**
 * Schemas of the resources in responses. The Worker doesn't use them. The compiler checks that each schema is exactly the
 * type that a route returns, and the tests compare every response to it.
 */

type Same<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;
type Plain<T> = T extends object ? { -readonly [K in keyof T]: Plain<T[K]> } : T;

/** A named schema that must have exactly the type `Returned`. */
export function resource<Returned>() {
  return <S extends z.ZodType>(
    id: string,
    description: string,
    schema: S & (Same<Plain<z.output<S>>, Plain<Returned>> extends true ? unknown : { differs: Plain<Returned> }),
  ): S => schema.meta({ id, title: id, description });
}

export const id = (what: string) => z.string().describe(`The ${what}'s id, an opaque string`);
export const time = (what: string) => z.string().meta({ format: "date-time", description: `${what}. RFC 3339 in UTC` });
export const timeOrNull = (what: string) => time(what).nullable();
export const timeIfSet = (what: string) => time(what).optional();
export const text = (what: string) => z.string().describe(what);
export const textIfSet = (what: string) => z.string().optional().describe(what);
export const textOrNull = (what: string) => z.string().nullable().describe(what);
export const oneOf = <const T extends readonly string[]>(values: T, what: string) => z.enum(values).describe(what);
export const count = z.int().min(0);
export const countOrNull = (what: string) => count.nullable().describe(what);
export const yesOrNo = (what: string) => z.boolean().describe(what);
export const group = <S extends z.ZodRawShape>(what: string, shape: S) => z.object(shape).describe(what);
export const groupOrNull = <S extends z.ZodRawShape>(what: string, shape: S) =>
  z.object(shape).nullable().describe(what);
export const groupIfSet = <S extends z.ZodRawShape>(what: string, shape: S) =>
  z.object(shape).optional().describe(what);
export const groups = <S extends z.ZodRawShape>(what: string, shape: S) => z.array(z.object(shape)).describe(what);
export const groupsIfSet = <S extends z.ZodRawShape>(what: string, shape: S) =>
  z.array(z.object(shape)).optional().describe(what);
