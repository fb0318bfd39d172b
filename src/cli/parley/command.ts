import type { Output } from "./output.ts";
import type { Service } from "./service.ts";

/** One option of a command. */
export interface Option {
  type: "string" | "boolean";
  multiple?: true;
  required?: true;
  /** What stands for its value in the help. */
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

/** What a command was called with. */
export interface Call<P extends readonly string[], O extends Record<string, Option>> {
  operands: Operands<P>;
  options: { [Name in keyof O]: Value<O[Name]> };
  service: Service;
  out: Output;
}

/** A command, as the table of commands has it. */
export interface Command {
  /** Its words after `parley`: `keys create`. */
  name: string;
  /** One line of what it does. */
  about: string;
  /** What else its help says. */
  details: string;
  /** What it is given by place; one in brackets may be left out. The name of a kind of id wants an id of that kind. */
  operands: readonly string[];
  options: Record<string, Option>;
  /** @returns the code to exit with, where it is not 0 */
  // A method: its argument may be narrower than this.
  run(call: Call<readonly string[], Record<string, Option>>): Promise<number | undefined>;
}

type Definition<P extends readonly string[], O extends Record<string, Option>> = {
  name: string;
  about: string;
  details?: string;
  operands?: P;
  options?: O;
  // biome-ignore lint/suspicious/noConfusingVoidType: most commands have nothing to give
  run(call: Call<P, O>): Promise<number | void>;
};

/** Defines a command: what it is called with has the types that its operands and options say. */
export function command<
  const P extends readonly string[] = [],
  const O extends Record<string, Option> = Record<never, Option>,
>(definition: Definition<P, O>): Command {
  const defined = { details: "", operands: [], options: {}, ...definition };
  return defined as unknown as Command;
}

/** The options of every list by page. */
export const PAGE_OPTIONS = {
  page: { type: "string", value: "n", about: "which page (1)" },
  limit: { type: "string", value: "n", about: "rows on a page, 1 to 100 (20)" },
} as const;

/** Which organization a command is about. */
export const ORGANIZATION_OPTION = {
  organization: { type: "string", value: "org_…", about: "the organization; the only one there is, if left out" },
} as const;

/** Erasing is for good. */
export const YES_OPTION = {
  yes: { type: "boolean", about: "yes, erase it for good" },
} as const;
