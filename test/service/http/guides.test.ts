import { expect, test } from "vitest";
import manifest from "../../../package.json?raw";
import { KINDS } from "../../../src/channels/kinds.ts";
import { ADAPTERS } from "../../../src/channels/registry.ts";
import { SOCKET_REFUSALS } from "../../../src/channels/web/socket-policy.ts";
import * as closing from "../../../src/chats/object/visitors/closing.ts";
import { newKeyBody } from "../../../src/management/key-settings.ts";
import { MESSAGE_TYPES } from "../../../src/model/content.ts";
import { ERRORS } from "../../../src/model/error.ts";
import { MAX_CONTENT, sendBody } from "../../../src/model/message.ts";
import { PERMISSIONS, PRESETS } from "../../../src/model/permission.ts";
import { client, newKey, newOrganization } from "../../support/harness.ts";
import { routeNamesBelow } from "../../support/routes.ts";
import { ALL_VARIABLES } from "../../support/variables.ts";
import { guide, guides, rows, section } from "./guide-texts.ts";

const ROUTE = /^`(GET|PUT|POST|PATCH|DELETE) \/[^`]*`$/;

test.each([
  ["using-the-api", "/api/v1"],
  ["operating", "/admin/v1"],
])("the guide %s lists exactly the routes below %s", (name, prefix) => {
  const listed = rows(ROUTE, section(name, "## Routes")).map(([route = ""]) => route.replaceAll("`", ""));
  expect(listed.sort()).toEqual(routeNamesBelow(prefix));
});

test("the guide to the console lists each preset with its permissions", () => {
  const listed = rows(/^`\w+`$/, guide("console"))
    .filter(([, , permissions = ""]) => permissions === "all" || permissions.includes(":"))
    .map(([name = "", , permissions = ""]) => [
      name.replaceAll("`", ""),
      permissions === "all" ? [...PERMISSIONS] : permissions.replaceAll("`", "").split(", "),
    ]);
  expect(Object.fromEntries(listed)).toEqual(PRESETS);
});

test("each public route needs the permission that the guide names", async () => {
  const { organizationId } = await newOrganization();
  const { secret } = await newKey(organizationId, { permissions: [] });
  const listed = rows(ROUTE, section("using-the-api", "## Routes"));
  expect(listed.length).toBeGreaterThan(0);
  for (const [route = "", permission = ""] of listed) {
    const [method = "", path = ""] = route.replaceAll("`", "").replace("/api/v1", "").split(" ");
    const answer = await client(secret)(method, path.replace(/\{\w+\}/g, "x"));
    // Without a body, the endpoint for agents has nothing to answer.
    if (permission === "any") expect(answer.status, route).toBe(route.endsWith("/mcp`") ? 400 : 200);
    else expect(answer.body.message.match(/\w+:\w+/g), route).toEqual(permission.match(/\w+:\w+/g));
  }
});

test("every route that a guide names exists", () => {
  const known = new Set([...routeNamesBelow(""), "GET /healthz"]);
  const named = Object.values(guides).flatMap((text) =>
    [...text.matchAll(/`((?:GET|POST|PATCH|DELETE) \/(?:api|admin)\/v1[^`\s]*)`/g)].map(([, route = ""]) => route),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((route) => !known.has(route))).toEqual([]);
});

test("a guide lists every error with its status and the field of its text", () => {
  const listed = rows(/^[45]\d\d$/, guide("errors-and-limits")).map(([status, code = "", field = ""]) => [
    code.replaceAll("`", ""),
    { status: Number(status), shape: field.replaceAll("`", "") },
  ]);
  const known = Object.entries(ERRORS).map(([code, { status, shape }]) => [code, { status, shape }]);
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(known));
});

test("a guide lists every permission and every setting of a key", () => {
  const listed = rows(/^`\w+`$/, section("operating", "## Keys"));
  const settings = Object.keys(newKeyBody.shape).filter((name) => name !== "name");
  expect(listed.map(([name = ""]) => name.replaceAll("`", "")).sort()).toEqual(settings.sort());
  const [, permissions = ""] = listed.find(([name]) => name === "`permissions`") ?? [];
  expect(permissions.match(/\w+:\w+/g)).toEqual([...PERMISSIONS]);
});

test("a guide lists every variable of the configuration", () => {
  const listed = rows(/^`[A-Z_<>]+`$/, section("operating", "## Configuration"));
  const known = new Set(ALL_VARIABLES.map((name) => name.replace(/^[A-Z]+_API_BASE$/, "<NETWORK>_API_BASE")));
  expect(listed.map(([name = ""]) => name.replaceAll("`", "")).sort()).toEqual([...known].sort());
});

const NAME = /`(\w+)`/g;
const names = (cell: string) => [...cell.matchAll(NAME)].map(([, name]) => name);

test("a guide lists the fields of a send", () => {
  const listed = rows(/^`\w+`$/, section("sending", "## Fields"));
  expect(listed.map(([field = ""]) => names(field)[0])).toEqual(Object.keys(sendBody.shape));
  const types = new Map(listed.map(([field = "", type = ""]) => [names(field)[0], type]));
  expect(types.get("content")).toContain(MAX_CONTENT.toLocaleString("en"));
  expect(names(types.get("type") ?? "")).toEqual([...MESSAGE_TYPES]);
});

test.each(Object.entries(ADAPTERS))(
  "the guide of %s lists its credentials, its settings and its address",
  (kind, its) => {
    const { credentials, defaults, settings: schema, base } = its;
    const [[listed = "", settings = ""] = []] = rows(/^`\w+`/, section(kind, "## Settings"));
    expect(names(listed)).toEqual(Object.keys(credentials.shape));
    expect(settings).toContain(`\`perSecond\` (${defaults.perSecond})`);
    expect(names(settings)).toEqual(Object.keys((schema as unknown as { shape: object }).shape));
    expect(section(kind, "## Settings")).toMatch(new RegExp(`\`${base.variable}\`.* \`${base.defaultUrl}\``));
  },
);

test("a guide lists the settings of a web channel", () => {
  const [[setting, value] = []] = Object.entries(KINDS.web.defaults);
  expect(section("operating", "## Channels")).toContain(`\`${setting}\` (default \`${JSON.stringify(value)}\``);
});

test("a guide lists every close code of the visitors' socket with its reason", () => {
  const listed = rows(/^[14]\d{3}$/, section("web-chat", "## The visitors' socket")).map(
    ([code, reason]) => `${code} ${reason}`,
  );
  const own = Object.values(closing).flatMap((value) => (typeof value === "object" ? [value as closing.Close] : []));
  const known = [...own, ...Object.values(SOCKET_REFUSALS)].filter(({ reason }) => reason !== "");
  expect(listed.sort()).toEqual([...new Set(known.map(({ code, reason }) => `${code} ${reason}`))].sort());
});

test("the layout in a guide lists the contents of src", () => {
  const code = Object.keys(import.meta.glob("../../../src/**/*.ts")).filter((path) => !path.endsWith(".d.ts"));
  const found = [...code, ...Object.keys(guides)];
  const known = found.map((path) => path.replace(/^(?:\.\.\/)+src\/([^/]+\/?).*$/, "$1"));
  const [, layout = ""] = section("contributing", "## Layout").split("\nsrc/\n");
  const listed = [...layout.matchAll(/^ {2}(\S+) /gm)].map(([, name]) => name);
  expect(new Set(listed)).toEqual(new Set(known));
});

test("a guide lists exactly the commands that exist", () => {
  const listed = rows(/^`npm .*`$/, section("contributing", "## Commands")).map(([command = ""]) =>
    command.replace(/^`npm (run )?(.*)`$/, "$2"),
  );
  const { scripts } = JSON.parse(manifest) as { scripts: Record<string, string> };
  expect(listed.sort()).toEqual(Object.keys(scripts).sort());
});

test("every file that the contributors' guide names exists", () => {
  const code = Object.keys(import.meta.glob("../../../src/**/*.ts")).map((path) =>
    path.replace(/^(?:\.\.\/)+src\//, ""),
  );
  const named = [...section("contributing", "## Where to find things").matchAll(/`([\w/-]+(?:\.ts|\/))`/g)];
  expect(named.length).toBeGreaterThan(15);
  for (const [, path = ""] of named) {
    expect(
      code.some((each) => each === path || (path.endsWith("/") && each.startsWith(path))),
      path,
    ).toBe(true);
  }
});
