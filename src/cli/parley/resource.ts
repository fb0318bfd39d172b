import { wholeNumber } from "./arguments.ts";
import {
  type Command,
  command,
  listOption,
  type Option,
  ORGANIZATION_OPTION,
  option,
  PAGE_OPTIONS,
  YES_OPTION,
} from "./command.ts";
import { VARIABLE_OF } from "./credentials.ts";
import { confirm, deleteUntilDone } from "./deletion.ts";
import type { Columns, Output } from "./output.ts";
import type { JsonObject, Query, Service, ServiceRequest } from "./service.ts";

type Options = Record<string, string | string[] | boolean | undefined>;
type Verb = { about: string; details?: string };

/** An option that sets a field of a resource. */
export interface Field extends Option {
  /** The field's path in the request body: `contact.name`. */
  to: string;
  /** Parses the given text. By default the text is sent as it is. @throws CommandError with exit code 2 */
  read?: (given: never, flag: string) => unknown;
}

/** A resource of the API. Its commands are made from this description. */
export interface Resource {
  /** The plural: the group of commands, and the name in the API's paths and lists. */
  name: string;
  /** The singular: the name of an id, and of a record in the API's answers. */
  one: string;
  /**
   * `service` needs the operator's token. `clients`: lists and creates with an API key if there is one. The rest of
   * `clients`, and all of `either`: with the operator's token if there is one, else with an API key.
   */
  scope: "service" | "clients" | "either";
  /** Whether the operator's paths of its records begin with their organization; false by default. */
  isWithin?: true;
  /** Whether the list has pages; true by default. */
  hasPages?: false;
  columns: Columns;
  /** Options of `list`, besides its pages. */
  filters?: Record<string, Option>;
  /** Whether a list with a cursor continues with `--before`; with `--after` by default. */
  isNewestFirst?: (options: Options) => boolean;
  fields: Record<string, Field>;
  /** The fields that `create` requires. */
  required: string[];
  list: Verb;
  create: Verb;
  show?: Verb;
  /** `fixed`: the fields that can't be changed. `options`: options that set no field alone. */
  change?: Verb & { fixed?: string[]; options?: Record<string, Option> };
  /** `word`: the command, if not `delete`. `loss`: what is deleted with it, for the confirmation. */
  delete: Verb & { word?: string; loss?: string };
  /** Adds values from other routes to a list's rows. `query` has no organization if an API key lists them. */
  complete?: (rows: JsonObject[], service: Service, query: Query) => Promise<void>;
  /** More fields of the request body, by path, that no single option sets. */
  more?: (options: Options, verb: "create" | "change") => Promise<Record<string, unknown>>;
  /** What to say of a record that was created or changed, besides the record itself. */
  about?: (record: JsonObject, service: Service) => string | null;
}

/** A field with a single value. `value` is the placeholder in the help. */
export function field(
  value: string,
  to: string,
  about: string,
  read: (given: string, flag: string) => unknown = (given) => given,
) {
  return { ...option(value, about), to, read };
}

/** A field whose option can be repeated. */
export function listField(
  value: string,
  to: string,
  about: string,
  read: (given: string[], flag: string) => unknown = (given) => given,
) {
  return { ...listOption(value, about), to, read };
}

/** The note on a secret that the service never shows again. */
const SHOWN_ONCE = "The secret is shown only once. Store it now.";

interface Rotation extends Verb {
  /** What the old secret does for how long. */
  overlap: string;
  /** The path below the resource. */
  path?: string;
  /** What is shown of the answer. By default the resource and its secret. */
  shown?: (body: JsonObject) => unknown;
}

/** The command that creates a new secret. @param one the singular of its resource */
export function rotation(one: string, { overlap: help, path = "rotate", shown, ...verb }: Rotation): Command {
  return command({
    ...verb,
    name: `${one}s rotate`,
    operands: [one],
    options: { overlap: option("seconds", help) },
    async run({ operands, options: { overlap }, service, out }) {
      const { body } = await service.asOperatorOrClient("POST", `/${one}s/${operands[one]}/${path}`, {
        body: { overlapSeconds: overlap && wholeNumber(overlap, "overlap") },
        optionOf: { overlapSeconds: "--overlap" },
      });
      out.record(body, shown ? shown(body) : { ...(body[one] as object), secret: body.secret });
      out.note(SHOWN_ONCE);
    },
  });
}

/** The commands of a resource: `list`, `create`, `show`, `change`, `delete`. */
export function commandsOf(resource: Resource): Command[] {
  const { name, one, scope, columns, filters, fields, required, show, change, complete } = resource;
  const { word = "delete", loss, ...deletion } = resource.delete;
  const organization: Record<string, Option> = scope === "service" ? {} : ORGANIZATION_OPTION;
  const listOptions: Record<string, Option> = { ...filters, ...(resource.hasPages !== false && PAGE_OPTIONS) };
  const ofRecord: Record<string, Option> = resource.isWithin ? organization : {};
  const callRecord = async (
    service: Service,
    method: string,
    id: string | undefined,
    options: Options,
    request: ServiceRequest = {},
  ) => {
    if (resource.isWithin) {
      const [, call] = await collection(resource, service, options);
      return call(method, request, `/${id}`);
    }
    const path = `/${name}/${id}`;
    if (scope === "service") return service.asOperator(method, path, request);
    return service.asOperatorOrClient(method, path, request);
  };
  const recordOf = ({ [one]: record, warnings: _printed, ...more }: JsonObject) => ({
    ...(record as JsonObject | undefined),
    ...more,
  });
  const tellAbout = (body: JsonObject, service: Service, out: Output) => {
    const text = resource.about?.(recordOf(body), service);
    if (text && !out.json) out.note(text);
  };
  const commands = [
    command({
      ...resource.list,
      name: `${name} list`,
      options: { ...listOptions, ...organization },
      async run({ options, service, out }) {
        const [owner, call] = await collection(resource, service, options);
        const names = Object.keys(listOptions);
        const query = Object.fromEntries(names.map((option) => [parameterOf(option), queryValue(options[option])]));
        const { body } = await call("GET", { query });
        if (!out.json) {
          await complete?.(body[name] as JsonObject[], service, { ...(owner && { organization: owner }), ...query });
        }
        out.list(body, name, columns);
        out.tellCursor(body, resource.isNewestFirst?.(options) ? "--before" : "--after");
      },
    }),
    command({
      ...resource.create,
      name: `${name} create`,
      options: { ...withRequired(fields, required), ...organization },
      async run({ options, service, out }) {
        const [, call] = await collection(resource, service, options);
        const { body } = await call("POST", await bodyOf(resource, options, "create"));
        out.record(body, recordOf(body));
        if (body.secret || body.identitySecret) out.note(SHOWN_ONCE);
        tellAbout(body, service, out);
      },
    }),
  ];
  if (show) {
    const run: Command["run"] = async ({ operands, options, service, out }) => {
      const { body } = await callRecord(service, "GET", operands[one], options);
      out.record(body, recordOf(body));
      return undefined;
    };
    commands.push(command({ ...show, name: `${name} show`, operands: [one], options: ofRecord, run }));
  }
  if (change) {
    const { fixed = [], options: more, ...texts } = change;
    const changeable = Object.fromEntries(Object.entries(fields).filter(([flag]) => !fixed.includes(flag)));
    const run: Command["run"] = async ({ operands, options, service, out }) => {
      const request = await bodyOf(resource, options, "change");
      const { body } = await callRecord(service, "PATCH", operands[one], options, request);
      out.record(body, recordOf(body));
      tellAbout(body, service, out);
      return undefined;
    };
    commands.push(
      command({
        ...texts,
        name: `${name} change`,
        operands: [one],
        options: { ...changeable, ...more, ...ofRecord },
        run,
      }),
    );
  }
  return [
    ...commands,
    command({
      ...deletion,
      name: `${name} ${word}`,
      operands: [one],
      options: { ...YES_OPTION, ...ofRecord },
      async run({ operands, options, service, out }) {
        await confirm(`${word} ${one} ${operands[one]}${loss ? ` with ${loss}` : ""}`, options.yes);
        const body = await deleteUntilDone(out, () => callRecord(service, "DELETE", operands[one], options));
        out.record(body, recordOf(body));
      },
    }),
  ];
}

/** The query parameter of an option: `optedOut` of `--opted-out`. */
function parameterOf(option: string): string {
  return option.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** A flag is `true` in a query. */
function queryValue(given: Options[string]): string | undefined {
  return given === undefined ? undefined : String(given);
}

function withRequired(fields: Record<string, Field>, required: string[]): Record<string, Option> {
  const options = Object.entries(fields);
  return Object.fromEntries(
    options.map(([flag, option]) => [flag, required.includes(flag) ? { ...option, required: true } : option]),
  );
}

/** The organization of a resource, and a function that calls its list. Null if the call uses no organization's path. */
export async function collection(
  { name, scope }: Pick<Resource, "name" | "scope">,
  service: Service,
  { organization }: Options,
) {
  const { adminToken, apiKey } = service.connection;
  const prefersKey = scope === "clients" || (scope === "either" && adminToken === null);
  const usesKey = prefersKey && organization === undefined && apiKey !== null;
  const owner = scope === "service" || usesKey ? null : await service.organization(organization as string | undefined);
  const path = owner ? `/organizations/${owner}/${name}` : `/${name}`;
  const call = (method: string, request: ServiceRequest, below = "") =>
    usesKey ? service.asClient(method, path + below, request) : service.asOperator(method, path + below, request);
  return [owner, call] as const;
}

/** The request body, and the option that sets each field of it, for the service's errors. */
async function bodyOf(resource: Resource, options: Options, verb: "create" | "change"): Promise<ServiceRequest> {
  const body: JsonObject = {};
  const optionOf: Record<string, string> = { ...VARIABLE_OF };
  for (const [flag, { to, read }] of Object.entries(resource.fields)) {
    const given = options[flag];
    optionOf[to] = `--${flag}`;
    if (given !== undefined) put(body, to, read ? await read(given as never, flag) : given);
  }
  const more = Object.entries((await resource.more?.(options, verb)) ?? {});
  for (const [path, value] of more) put(body, path, value);
  return { body, optionOf };
}

function put(body: JsonObject, path: string, value: unknown): void {
  const [name = "", ...rest] = path.split(".");
  if (rest.length === 0) body[name] = value;
  else put((body[name] ??= {}) as JsonObject, rest.join("."), value);
}
