import type { Output } from "./output.ts";
import type { JsonObject, Service, ServiceResponse } from "./service.ts";

export interface Option {
  type: "string" | "boolean";
  multiple?: true;
  required?: true;
  /** The placeholder of the value in the help. */
  value?: string;
  about: string;
}

type Value<O extends Option> = O["type"] extends "boolean"
  ? boolean | undefined
  : O extends { multiple: true }
    ? string[] | undefined
    : O extends { required: true }
      ? string
      : string | undefined;

type Operands<P extends readonly string[]> = {
  [Name in P[number] as Name extends `[${infer Inner}]` ? Inner : Name]: Name extends `[${string}]`
    ? string | undefined
    : string;
};

/** The arguments of a command, and what it needs to run. */
export interface Call<P extends readonly string[], O extends Record<string, Option>> {
  operands: Operands<P>;
  options: { [Name in keyof O]: Value<O[Name]> };
  service: Service;
  out: Output;
}

export interface Command {
  /** The words after `parley`: `keys create`. */
  name: string;
  /** The help's one-line description. */
  about: string;
  /** More text for its help. */
  details: string;
  /** Positional arguments; brackets mark an optional one. An operand named after a resource must be its id. */
  operands: readonly string[];
  options: Record<string, Option>;
  /** @returns the exit code, if it is not 0 */
  // A method, so that an implementation can have a narrower parameter.
  run(call: Call<readonly string[], Record<string, Option>>): Promise<number | undefined>;
}

type Definition<P extends readonly string[], O extends Record<string, Option>> = {
  name: string;
  about: string;
  details?: string;
  operands?: P;
  options?: O;
  // biome-ignore lint/suspicious/noConfusingVoidType: most commands return nothing
  run?(call: Call<P, O>): Promise<number | void>;
  /** In place of `run`: its only call, whose answer it prints. */
  call?: (call: Call<P, O>) => Promise<ServiceResponse>;
  /** The record in the answer of `call`, if it is not the whole answer. */
  shows?: string;
};

/** Defines a command. Its operands and options set the types of the call. */
export function command<
  const P extends readonly string[] = [],
  const O extends Record<string, Option> = Record<never, Option>,
>({ call, shows, ...definition }: Definition<P, O>): Command {
  const run = async (given: Call<P, O>) => {
    const body: JsonObject = (await call?.(given))?.body ?? {};
    given.out.record(body, shows === undefined ? body : body[shows]);
  };
  const defined = { details: "", operands: [], options: {}, run, ...definition };
  return defined as unknown as Command;
}

/** An option with a value. `value` is its placeholder in the help. */
export function option(value: string, about: string) {
  return { type: "string", value, about } as const;
}

/** An option with a value that can be repeated. */
export function listOption(value: string, about: string) {
  return { ...option(value, about), multiple: true } as const;
}

/** An option without a value. */
export function flag(about: string) {
  return { type: "boolean", about } as const;
}

/** The options of every list with pages. */
export const PAGE_OPTIONS = {
  page: option("n", "The page; 1 by default"),
  limit: option("n", "Rows on a page, 1 to 100; 20 by default"),
} as const;

export const ORGANIZATION_OPTION = {
  organization: option("org_…", "The organization; not needed if there is only one"),
} as const;

/** The option that confirms an irreversible action. */
export const YES_OPTION = {
  yes: flag("Confirm without being asked"),
} as const;
