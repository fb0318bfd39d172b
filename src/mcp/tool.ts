import type { ChatsContext } from "../chats/context.ts";
import type { Need } from "../model/permission.ts";
import { callRoute, type RouteRequest } from "./call-route.ts";

/** An argument, as JSON Schema. */
export interface Argument {
  type: "string" | "integer" | "boolean" | "object" | readonly ["string", "null"];
  description: string;
  enum?: readonly string[];
  const?: true;
  /** For an object: the type of its values. */
  additionalProperties?: { type: "string" };
  /** For a text: a regular expression. */
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

/** Arguments that were checked: those of a path are ids. */
// biome-ignore lint/suspicious/noExplicitAny: each tool knows its own arguments, which were checked by their schema
export type Given = Record<string, any>;

/** A tool: an API route for agents. */
export interface Tool {
  title: string;
  description: string;
  /** The permissions of its route. Several: it is listed for a key with any of them, and the call decides. */
  needs: readonly Need[];
  arguments: Record<string, Argument>;
  required: readonly string[];
  /** `destructiveHint` and `idempotentHint` mean something only if it is not read-only. */
  annotations: { readOnlyHint: boolean; destructiveHint?: boolean; idempotentHint?: boolean };
  /** What it does, usually `byRoute`. @returns what the agent gets, before it is fenced */
  call: (c: ChatsContext, given: Given) => Promise<unknown>;
}

/** The call of a tool that is a request to a route. */
export function byRoute(requestOf: (given: Given) => RouteRequest): Tool["call"] {
  return async (c, given) => callRoute(c, requestOf(given));
}

/** An argument with an id of this kind. */
export function idArgument(what: string): Argument {
  return { type: "string", description: `The id of ${what}.` };
}

export function textArgument(
  description: string,
  keywords: Pick<Argument, "enum" | "minLength" | "maxLength" | "pattern"> = {},
): Argument {
  return { type: "string", description, ...keywords };
}

export function integerArgument(description: string, minimum: number, maximum?: number): Argument {
  return { type: "integer", description, minimum, ...(maximum !== undefined && { maximum }) };
}

/** A filter that is `true`, or absent. */
export function flagArgument(description: string): Argument {
  return { type: "boolean", description, const: true };
}

export const READS: Tool["annotations"] = { readOnlyHint: true };
