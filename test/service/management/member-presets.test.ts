import { expect, test } from "vitest";
import { PERMISSIONS, PRESETS } from "../../../src/model/permission.ts";
import { admin, client, created, expectError, expectFaults, newKey, newOrganization } from "../../support/harness.ts";

const { agent: AGENT, viewer: VIEWER } = PRESETS;

test("an organization's first member is a manager, and the next one an agent", async () => {
  const body = { name: "Acme", owner: { name: "Ada" } };
  const { organization, member } = created(await admin("POST", "/organizations", body));
  expect(member.permissions).toEqual(PERMISSIONS);
  const next = created(await admin("POST", `/organizations/${organization.id}/members`, { name: "Bea" })).member;
  expect(next.permissions).toEqual(AGENT);
});

test.each([
  ["agent", AGENT],
  ["viewer", VIEWER],
  ["manager", PERMISSIONS],
])("a member gets the permissions of the preset %s, with its creation and with a change", async (preset, expected) => {
  const { organizationId } = await newOrganization();
  const body = { name: "Bea", permissions: preset };
  const { member } = created(await admin("POST", `/organizations/${organizationId}/members`, body));
  expect(member.permissions).toEqual(expected);
  await admin("PATCH", `/members/${member.id}`, { permissions: [] });
  const changed = await admin("PATCH", `/members/${member.id}`, { permissions: preset });
  expect(changed.body.member.permissions).toEqual(expected);
});

test("null gives a member the default again", async () => {
  const { ownerId } = await newOrganization();
  expect((await admin("PATCH", `/members/${ownerId}`, { permissions: null })).body.member.permissions).toEqual(AGENT);
});

test("a preset beyond the giver's permissions is refused, and the default is cut to them", async () => {
  const { organizationId } = await newOrganization();
  const { secret } = await newKey(organizationId, { permissions: ["members:write", ...VIEWER] });
  const add = (permissions?: string) => client(secret)("POST", "/members", { name: "Bea", permissions });
  expectError(await add("agent"), 403, "permission_denied", /chats:write, messages:send/);
  expectError(await add("manager"), 403, "permission_denied", /keys:write/);
  expect(created(await add("viewer")).member.permissions).toEqual(VIEWER);
  expect(created(await add()).member.permissions).toEqual(VIEWER);
});

test("what is neither a preset nor a list of permissions is a 400", async () => {
  const { organizationId } = await newOrganization();
  const add = (permissions: unknown) =>
    admin("POST", `/organizations/${organizationId}/members`, { name: "Bea", permissions });
  for (const permissions of ["owner", "chats:read", 7, {}, ["chats:read", "agent"]]) {
    expectFaults(await add(permissions), "permissions");
  }
});
