import { expect, test } from "vitest";
import { PERMISSIONS, PRESETS } from "../../../src/model/permission.ts";
import { admin, created, expectError, newOrganization } from "../../support/harness.ts";

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const paths = (answer: { body: { errors: { path: string }[] } }) =>
  answer.body.errors.map((fault) => fault.path).sort();

test("an organization is created with its first member, and returned with all its fields", async () => {
  const owner = { name: "Ada", email: "ada@acme.test" };
  const answer = await admin("POST", "/organizations", { name: "Acme", owner, jurisdiction: "eu", region: "weur" });
  const { organization, member } = created(answer);
  expect(answer.body).toEqual({
    organization: {
      id: expect.stringMatching(/^org_e[0-9A-Za-z]{15}$/),
      name: "Acme",
      jurisdiction: "eu",
      region: "weur",
      limits: { chats: null, members: 1_000, templates: 1_000, channels: 200 },
      selfService: null,
      assignOnAnswer: false,
      temporary: false,
      createdAt: TIME,
      search: { state: "on", done: 0, total: 0 },
    },
    member: {
      id: expect.stringMatching(/^mbr_e[0-9A-Za-z]{15}$/),
      organizationId: organization.id,
      ...owner,
      publicName: null,
      permissions: PERMISSIONS,
      passkeys: 0,
      createdBy: "operator",
      createdAt: organization.createdAt,
      lastSeenAt: null,
    },
  });
  expect((await admin("GET", `/organizations/${organization.id}`)).body).toEqual({ organization });
  expect((await admin("GET", `/organizations/${organization.id}/members`)).body.members).toEqual([member]);
});

test("a temporary organization says so, is listed as one, and stays one", async () => {
  const owner = { name: "Ada" };
  const { organization } = created(await admin("POST", "/organizations", { name: "Try", owner, temporary: true }));
  expect(organization.temporary).toBe(true);
  await newOrganization();
  const path = `/organizations/${organization.id}`;
  const patched = await admin("PATCH", path, { name: "Tried", temporary: false });
  expect(patched.body.organization).toMatchObject({ name: "Tried", temporary: true });
  const list = await admin("GET", "/organizations?temporary=true");
  expect(list.body).toMatchObject({ organizations: [{ id: organization.id }], pagination: { total: 1 } });
  expectError(await admin("GET", "/organizations?temporary=false"), 400, "validation_failed");
  expectError(
    await admin("POST", "/organizations", { name: "Try", owner, temporary: "yes" }),
    400,
    "validation_failed",
  );
  await admin("DELETE", path);
  expect((await admin("GET", "/organizations?temporary=true")).body.pagination.total).toBe(0);
});

test("an absent field of an organization is null, and null means absent", async () => {
  const owner = { name: "Ada", email: null };
  const answer = await admin("POST", "/organizations", { name: "Acme", owner, jurisdiction: null, region: null });
  expect(created(answer)).toMatchObject({
    organization: { id: expect.stringMatching(/^org_g/), jurisdiction: null, region: null },
    member: { email: null },
  });
});

test.each([
  [undefined, "g"],
  ["eu", "e"],
  ["us", "u"],
])(
  "all ids of an organization with the jurisdiction %s have the letter %s, and it works",
  async (jurisdiction, letter) => {
    const { organizationId, ownerId, channelId, keyId, api } = await newOrganization(
      jurisdiction ? { jurisdiction } : {},
    );
    const { chat } = created(await api("POST", "/chats", { channelId, contact: { address: "someone" } }));
    const { message } = created(await api("POST", `/chats/${chat.id}/messages`, { content: "Hello" }));
    const body = { name: "hello", language: "en", body: "Hello" };
    const { template } = created(await admin("POST", `/organizations/${organizationId}/templates`, body));
    for (const id of [organizationId, ownerId, channelId, keyId, chat.id, message.id, message.senderId, template.id]) {
      expect(id.split("_")[1][0]).toBe(letter);
    }
    expect((await api("GET", `/chats/${chat.id}/messages`)).body.messages).toEqual([message]);
  },
);

test.each<[object, string[]]>([
  [{ name: "x".repeat(257), owner: { name: "Ada" } }, ["name"]],
  [{ name: 7, owner: { name: "Ada" } }, ["name"]],
  [{ name: "Acme", owner: "Ada" }, ["owner"]],
  [{ name: "Acme", owner: { name: "Ada", email: "nobody" } }, ["owner.email"]],
  [{ name: "Acme", owner: { name: "Ada" }, jurisdiction: "fr" }, ["jurisdiction"]],
  [{ name: "Acme", owner: { name: "Ada" }, region: "mars" }, ["region"]],
  [
    { owner: { email: "nobody" }, jurisdiction: "fr", region: "mars" },
    ["jurisdiction", "name", "owner.email", "owner.name", "region"],
  ],
])("POST /organizations with %j is a 400 for %j", async (body, faults) => {
  const answer = await admin("POST", "/organizations", body);
  expectError(answer, 400, "validation_failed", /^Validation failed$/);
  expect(paths(answer)).toEqual(faults);
});

test.each<[object, string]>([
  [{ owner: { name: "Ada" } }, "name is required"],
  [{ name: null, owner: { name: "Ada" } }, "name is required"],
  [{ name: " \t", owner: { name: "Ada" } }, "name is required"],
  [{ name: "Acme" }, "owner is required"],
  [{ name: "Acme", owner: { email: "ada@acme.test" } }, "owner.name is required"],
])("POST /organizations with %j returns: %s", async (body, text) => {
  const answer = await admin("POST", "/organizations", body);
  expectError(answer, 400, "missing_field");
  expect(answer.body).toEqual({ error: text, code: "missing_field" });
});

test("a member is added at the end of the list, and returned when it is removed", async () => {
  const { organizationId, ownerId } = await newOrganization();
  const { member } = created(
    await admin("POST", `/organizations/${organizationId}/members`, { name: "Bob", email: "bob@acme.test" }),
  );
  expect(member).toEqual({
    id: expect.stringMatching(/^mbr_g[0-9A-Za-z]{15}$/),
    organizationId,
    name: "Bob",
    publicName: null,
    email: "bob@acme.test",
    permissions: PRESETS.agent,
    passkeys: 0,
    createdBy: "operator",
    createdAt: TIME,
    lastSeenAt: null,
  });
  const listed = async () => (await admin("GET", `/organizations/${organizationId}/members`)).body.members;
  expect(new Set((await listed()).map(({ id }: { id: string }) => id))).toEqual(new Set([ownerId, member.id]));
  const deleted = await admin("DELETE", `/members/${member.id}`);
  expect([deleted.status, deleted.body.member]).toEqual([200, member]);
  expectError(await admin("DELETE", `/members/${member.id}`), 404, "member_not_found", /^Member not found$/);
  expect((await listed()).map(({ id }: { id: string }) => id)).toEqual([ownerId]);
});

test("the last member of an organization can't be removed", async () => {
  const { ownerId, api, channelId } = await newOrganization();
  expectError(await admin("DELETE", `/members/${ownerId}`), 409, "last_member");
  const { chat } = created(await api("POST", "/chats", { channelId, contact: { address: "someone" } }));
  expect((await api("POST", `/chats/${chat.id}/messages`, { content: "Hi" })).body.message.senderId).toBe(ownerId);
});

test("if the last two members are removed at the same time, one stays", async () => {
  const { organizationId, ownerId } = await newOrganization();
  const { member } = created(await admin("POST", `/organizations/${organizationId}/members`, { name: "Bob" }));
  const answers = await Promise.all([ownerId, member.id].map((id) => admin("DELETE", `/members/${id}`)));
  expect(answers.map((answer) => String(answer.status)).sort()).toEqual(["200", "409"]);
});

test.each<[object, string]>([
  [{ name: "x".repeat(257) }, "name"],
  [{ name: "Bob", email: "@" }, "email"],
  [{ name: "Bob", email: `${"x".repeat(320)}@acme.test` }, "email"],
])("a member %j is a 400 for %s", async (body, path) => {
  const { organizationId } = await newOrganization();
  const answer = await admin("POST", `/organizations/${organizationId}/members`, body);
  expectError(answer, 400, "validation_failed");
  expect([...new Set(paths(answer))]).toEqual([path]);
});
