import { type Command, command, type Option, ORGANIZATION_OPTION, PAGE_OPTIONS, YES_OPTION } from "./command.ts";
import { confirm, deleteUntilDone } from "./deletion.ts";
import type { Column } from "./output.ts";
import type { Body, Service, ServiceRequest, ServiceResponse } from "./service.ts";

type Given = Record<string, string | string[] | boolean | undefined>;

/** An option that sets a field of a resource. */
export interface Field extends Option {
  /** The field's path in the request body: `contact.name`. */
  to: string;
  /** Parses the given text. By default the text is sent as it is. @throws CommandError with exit code 2 */
  read?: (given: never, flag: string) => unknown;
}

interface Verb {
  /** The help's one-line description. */
  about: string;
  details?: string;
}

/** A resource of the operator's API. Its commands are made from this description. */
export interface Resource {
  /** The plural: the group of commands, and the name in the API's paths and lists. */
  name: string;
  /** The singular: the name of an id, and of a record in the API's answers. */
  one: string;
  /** `clients` may also use an API key. */
  scope: "service" | "organization" | "clients";
  columns: Column[];
  /** Adds to the rows of a list what the API keeps elsewhere. */
  complete?: (service: Service, organization: string, query: ServiceRequest["query"], rows: Body[]) => Promise<void>;
  filters?: Record<string, Option>;
  fields: Record<string, Field>;
  /** The fields that `create` requires. */
  required: string[];
  list: Verb;
  create: Verb;
  show?: Verb;
  /** `fields`: those that can be changed, all by default. `options`: options that set no field by themselves. */
  change?: Verb & { fields?: string[]; options?: Record<string, Option> };
  /** `word`: the command, if not `delete`. `loss`: what is deleted with it, for the confirmation. */
  delete: Verb & { word?: string; loss?: string };
  /** More of the request body, by path, that no single option sets. */
  body?: (options: Given, verb: "create" | "change") => Promise<Record<string, unknown>>;
}

/** The note on a secret that the service never shows again. */
export const SHOWN_ONCE = "The secret is shown only once. Store it now.";

/** The commands of a resource: `list`, `create`, `show`, `change`, `delete`. */
export function commandsOf(resource: Resource): Command[] {
  const { show, change } = resource;
  return [
    listCommand(resource),
    createCommand(resource),
    ...(show ? [showCommand(resource, show)] : []),
    ...(change ? [changeCommand(resource, change)] : []),
    deleteCommand(resource),
  ];
}

function listCommand(resource: Resource): Command {
  const { name, list, filters = {}, columns, complete } = resource;
  return command({
    ...list,
    name: `${name} list`,
    options: { ...filters, ...PAGE_OPTIONS, ...organizationOption(resource) } as Record<string, Option>,
    async run({ options, service, out }) {
      const owner = await ownerOf(resource, service, options.organization as string | undefined);
      const names = Object.keys({ ...filters, ...PAGE_OPTIONS });
      const query = Object.fromEntries(names.map((name) => [name, options[name] as string | undefined]));
      const { body } = await collection(resource, service, owner)("GET", { query });
      if (complete && owner && !out.json) await complete(service, owner, query, body[name] as Body[]);
      out.list(body, name, columns);
    },
  });
}

function createCommand(resource: Resource): Command {
  const { name, one, create, fields, required } = resource;
  const needed = Object.entries(fields).map(([flag, field]) => [
    flag,
    required.includes(flag) ? { ...field, required: true } : field,
  ]);
  return command({
    ...create,
    name: `${name} create`,
    options: { ...Object.fromEntries(needed), ...organizationOption(resource) } as Record<string, Option>,
    async run({ options, service, out }) {
      const owner = await ownerOf(resource, service, options.organization as string | undefined);
      const { body } = await collection(resource, service, owner)("POST", await bodyOf(resource, options, "create"));
      out.record(body, recordOf(body, one));
      if (body.secret || body.identitySecret) out.note(SHOWN_ONCE);
    },
  });
}

function showCommand({ name, one, scope }: Resource, show: Verb): Command {
  return command({
    ...show,
    name: `${name} show`,
    operands: [one],
    async run({ operands, service, out }) {
      const path = `/${name}/${operands[one]}`;
      const isClient = scope === "clients" && service.connection.adminToken === null;
      const { body } = await (isClient ? service.asClient("GET", path) : service.asOperator("GET", path));
      out.record(body, recordOf(body, one));
    },
  });
}

function changeCommand(resource: Resource, change: NonNullable<Resource["change"]>): Command {
  const { name, one, fields } = resource;
  const { fields: changeable = Object.keys(fields), options: more = {}, ...texts } = change;
  const own = Object.entries(fields).filter(([flag]) => changeable.includes(flag));
  return command({
    ...texts,
    name: `${name} change`,
    operands: [one],
    options: { ...Object.fromEntries(own), ...more } as Record<string, Option>,
    async run({ operands, options, service, out }) {
      const request = await bodyOf(resource, options, "change");
      const { body } = await service.asOperator("PATCH", `/${name}/${operands[one]}`, request);
      out.record(body, recordOf(body, one));
    },
  });
}

function deleteCommand({ name, one, delete: { word = "delete", loss, ...texts } }: Resource): Command {
  return command({
    ...texts,
    name: `${name} ${word}`,
    operands: [one],
    options: YES_OPTION,
    async run({ operands, options, service, out }) {
      const id = operands[one] ?? "";
      await confirm(`${word} ${one} ${id}${loss ? ` with ${loss}` : ""}`, options.yes);
      const body = await deleteUntilDone(service, out, `/${name}/${id}`);
      out.record(body, recordOf(body, one));
    },
  });
}

function organizationOption({ scope }: Resource): Record<string, Option> {
  return scope === "service" ? {} : ORGANIZATION_OPTION;
}

/** The organization to call as its operator. Null for a resource without one, or if the call uses the API key. */
async function ownerOf({ scope }: Resource, service: Service, given: string | undefined): Promise<string | null> {
  const usesKey = scope === "clients" && given === undefined && service.connection.apiKey !== null;
  return scope === "service" || usesKey ? null : service.organization(given);
}

/** Calls the list that the resource is in. */
function collection({ name, scope }: Resource, service: Service, owner: string | null) {
  return (method: string, request: ServiceRequest): Promise<ServiceResponse> => {
    if (owner) return service.asOperator(method, `/organizations/${owner}/${name}`, request);
    return scope === "clients"
      ? service.asClient(method, `/${name}`, request)
      : service.asOperator(method, `/${name}`, request);
  };
}

/** The request body, and the option that sets each field of it, for the service's errors. */
async function bodyOf(resource: Resource, options: Given, verb: "create" | "change"): Promise<ServiceRequest> {
  const body: Body = {};
  const optionOf: Record<string, string> = {};
  for (const [flag, { to, read }] of Object.entries(resource.fields)) {
    const given = options[flag];
    optionOf[to] = `--${flag}`;
    if (given !== undefined) put(body, to, read ? await read(given as never, flag) : given);
  }
  const more = Object.entries((await resource.body?.(options, verb)) ?? {});
  for (const [path, value] of more) put(body, path, value);
  return { body, optionOf };
}

function put(body: Body, path: string, value: unknown): void {
  const names = path.split(".");
  const last = names.pop() ?? "";
  let at = body;
  for (const name of names) {
    at[name] ??= {};
    at = at[name] as Body;
  }
  at[last] = value;
}

/** The fields of the record itself first, then those of everything else in the answer. */
function recordOf(body: Body, one: string): Body {
  const { [one]: record, ...more } = body;
  return { ...(record as Body | undefined), ...more };
}
