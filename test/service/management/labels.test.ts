import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { newId } from "../../../src/model/id.ts";
import { MAX_LABELS } from "../../../src/model/label.ts";
import { PRESETS } from "../../../src/model/permission.ts";
import { runAlarm } from "../../support/alarms.ts";
import { browser, signInMember } from "../../support/console.ts";
import {
  admin,
  type Client,
  client,
  created,
  expectError,
  expectFaults,
  newKey,
  newOrganization,
  seen,
} from "../../support/harness.ts";

/** An organization with a key that reads chats and manages labels. */
async function place() {
  const { organizationId, ownerId } = await newOrganization();
  const { key, secret } = await newKey(organizationId, { permissions: ["chats:read", "labels:write"] });
  return { organizationId, ownerId, keyId: key.id, api: client(secret), at: `/organizations/${organizationId}` };
}

async function make(api: Client, name: string): Promise<{ id: string; name: string }> {
  return created(await api("POST", "/labels", { name })).label;
}

const namesOf = async (api: Client) => {
  const { labels } = (await api("GET", "/labels")).body;
  return labels.map(({ name }: { name: string }) => name);
};

/** What the organization's object has of labels. */
function rowsOf(organizationId: string): Promise<{ id: string; deleted_at: number | null }[]> {
  return runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), (_object, { storage }) =>
    storage.sql.exec<{ id: string; deleted_at: number | null }>("select id, deleted_at from labels").toArray(),
  );
}

test("a label is created, listed, changed and deleted", async () => {
  const { api } = await place();
  expect((await api("GET", "/labels")).body).toEqual({ labels: [] });
  const answer = await api("POST", "/labels", { name: "Refund", color: "#2F80ed" });
  const label = { id: expect.stringMatching(/^lbl_g[0-9A-Za-z]{15}$/), name: "Refund", color: "#2F80ed", chats: 0 };
  expect([answer.status, answer.body]).toEqual([201, { label }]);
  const { id } = answer.body.label;
  const second = await make(api, "Later");
  expect((await api("GET", "/labels")).body).toEqual({ labels: [answer.body.label, { ...second, color: null }] });
  const changed = await api("PATCH", `/labels/${id}`, { name: "Money back" });
  expect([changed.status, changed.body]).toEqual([200, { label: { ...answer.body.label, name: "Money back" } }]);
  expect((await api("PATCH", `/labels/${id}`, { color: null })).body.label.color).toBeNull();
  const deleted = await api("DELETE", `/labels/${id}`);
  expect([deleted.status, deleted.body.label.name]).toEqual([200, "Money back"]);
  expect(await namesOf(api)).toEqual(["Later"]);
  for (const [method, body] of [["DELETE"], ["PATCH", { name: "New" }]] as const) {
    const gone = await api(method, `/labels/${id}`, body);
    expect([gone.status, gone.body]).toEqual([404, { error: expect.any(String), code: "label_not_found" }]);
  }
});

test.each<[object, string]>([
  [{ name: "x".repeat(41) }, "name"],
  [{ name: 7 }, "name"],
  [{ name: "\ud800" }, "name"],
  [{ color: "" }, "color"],
  [{ color: "red" }, "color"],
  [{ color: "#12345" }, "color"],
  [{ color: "#1234567" }, "color"],
  [{ color: "#12345g" }, "color"],
  [{ color: "#123456\n" }, "color"],
  [{ color: 7 }, "color"],
])("a label with %j is a 400 for %s, on creation and on change", async (changes, path) => {
  const { api } = await place();
  const { id } = await make(api, "Refund");
  expectFaults(await api("POST", "/labels", { name: "Other", ...changes }), path);
  expectFaults(await api("PATCH", `/labels/${id}`, changes), path);
  expect(await namesOf(api)).toEqual(["Refund"]);
});

test("a label needs a name that shows something", async () => {
  const { api } = await place();
  const { id } = await make(api, "x".repeat(40));
  for (const name of [undefined, null, "", "   ", "\u200b\u3164"]) {
    expectError(await api("POST", "/labels", { name }), 400, "missing_field", "name is required");
    if (name === undefined) continue;
    expectError(await api("PATCH", `/labels/${id}`, { name }), 400, "missing_field", "name is required");
  }
  for (const body of [{}, { title: "New" }]) expectFaults(await api("PATCH", `/labels/${id}`, body), "");
});

test("a name belongs to one label of an organization, whatever its case, width, accents and outer spaces", async () => {
  const [{ api }, other] = [await place(), await place()];
  const first = await make(api, "José M");
  const second = await make(api, "Other");
  for (const name of ["José M", "jose m", "JOSE\u0301 M", "ｊｏｓｅ\u3000M", " José M ", "José  M"]) {
    expectError(await api("POST", "/labels", { name }), 409, "label_exists");
    const answer = await api("PATCH", `/labels/${second.id}`, { name, color: "#000000" });
    expect([answer.status, answer.body]).toEqual([409, { error: expect.any(String), code: "label_exists" }]);
    // Its own is no other one's.
    expect((await api("PATCH", `/labels/${first.id}`, { name })).body.label.name).toBe(name);
  }
  expect((await api("GET", "/labels")).body.labels.at(-1)).toEqual({ ...second, color: null });
  await make(other.api, "jose m");
  await api("PATCH", `/labels/${first.id}`, { name: "Free" });
  expect((await api("PATCH", `/labels/${second.id}`, { name: "jose m" })).status).toBe(200);
  // A deleted one's is free at once.
  await api("DELETE", `/labels/${first.id}`);
  await make(api, "FREE");
});

test("of many requests at once with one name, exactly one creates its label", async () => {
  const { api } = await place();
  const answers = await Promise.all(Array.from({ length: 8 }, () => api("POST", "/labels", { name: "Refund" })));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array(7).fill(409)]);
  expect(await namesOf(api)).toEqual(["Refund"]);
});

test("an organization has at most 200 labels: of many requests at once for the last one, one succeeds", async () => {
  const { api, at, organizationId } = await place();
  await make(api, "label 0");
  await runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), (object) => {
    for (let nth = 1; nth < MAX_LABELS - 1; nth++) {
      object.addLabel({ id: newId("lbl", null), name: `label ${nth}`, color: null });
    }
  });
  const names = ["a", "b", "c", "d"];
  const answers = await Promise.all(names.map((name) => api("POST", "/labels", { name })));
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(3);
  for (const answer of [...refused, await admin("POST", `${at}/labels`, { name: "e" })]) {
    expect([answer.status, answer.body]).toEqual([409, { error: expect.any(String), code: "label_limit" }]);
  }
  const { labels } = (await api("GET", "/labels")).body;
  expect(labels).toHaveLength(MAX_LABELS);
  // One that is there can be changed, and a deletion makes room.
  expect((await api("PATCH", `/labels/${labels[0].id}`, { name: "New" })).status).toBe(200);
  expect((await api("DELETE", `/labels/${labels[0].id}`)).status).toBe(200);
  await make(api, "e");
});

test("a call that is repeated because its answer was lost has the answer of the first", async () => {
  const { api, organizationId } = await place();
  const { id } = await make(api, "Refund");
  await runInDurableObject(env.ORGANIZATIONS.getByName(organizationId), async (object) => {
    const added = { outcome: "ok", label: { id, name: "Refund", color: null, chats: 0 } };
    expect(object.addLabel({ id, name: "Refund", color: null })).toEqual(added);
    expect(await object.deleteLabel(id, false)).toEqual(added);
    expect(await object.deleteLabel(id, true)).toEqual(added);
    expect(await object.deleteLabel(id, false)).toEqual({ outcome: "label_not_found" });
    expect(await object.deleteLabel(newId("lbl", null), true)).toEqual({ outcome: "label_not_found" });
  });
});

test("the alarm removes the row of a deleted label", async () => {
  const { api, organizationId } = await place();
  const [{ id }, other] = [await make(api, "Refund"), await make(api, "Later")];
  await api("DELETE", `/labels/${id}`);
  expect(await rowsOf(organizationId)).toHaveLength(2);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31_000 });
  await runAlarm(env.ORGANIZATIONS.getByName(organizationId));
  expect(await rowsOf(organizationId)).toEqual([{ id: other.id, deleted_at: null }]);
});

test("who reads chats reads the labels, and only labels:write changes them", async () => {
  const { api, organizationId } = await place();
  const label = await make(api, "Refund");
  const [reader, writer] = await Promise.all(
    ["chats:read", "labels:write"].map(async (permission) =>
      client((await newKey(organizationId, { permissions: [permission] })).secret),
    ),
  );
  expect((await reader?.("GET", "/labels"))?.body.labels).toMatchObject([label]);
  const acts: [string, string, object?][] = [
    ["POST", "/labels", { name: "Other" }],
    ["PATCH", `/labels/${label.id}`, { name: "New" }],
    ["DELETE", `/labels/${label.id}`],
  ];
  for (const act of acts) {
    expectError(await (reader as Client)(...act), 403, "permission_denied", /labels:write/);
    expect((await (writer as Client)(...act)).status).toBeLessThan(300);
  }
  expectError(await (writer as Client)("GET", "/labels"), 403, "permission_denied", /chats:read/);
});

test("the operator has the same routes below the organization", async () => {
  const { api, at } = await place();
  const { label } = created(await admin("POST", `${at}/labels`, { name: "Refund" }));
  expect((await admin("GET", `${at}/labels`)).body).toEqual((await api("GET", "/labels")).body);
  const changed = await admin("PATCH", `${at}/labels/${label.id}`, { color: "#000000" });
  expect(changed.body).toEqual({ label: { ...label, color: "#000000" } });
  expect((await admin("DELETE", `${at}/labels/${label.id}`)).status).toBe(200);
  expectError(await admin("DELETE", `${at}/labels/${label.id}`), 404, "label_not_found");
  for (const [method, path, body] of [
    ["GET", "labels"],
    ["POST", "labels", { name: "Refund" }],
    ["PATCH", `labels/${label.id}`, { name: "Refund" }],
    ["DELETE", `labels/${label.id}`],
  ] as const) {
    const answer = await admin(method, `/organizations/org_gaaaaaaaaaaaaaaa/${path}`, body);
    expectError(answer, 404, "organization_not_found");
  }
});

test.each<[string, object?]>([["PATCH", { name: "Mine" }], ["DELETE"]])(
  "%s: another organization's label gets the same response as an unknown id, and changes nothing",
  async (method, body) => {
    const [ours, theirs] = [await place(), await place()];
    const label = await make(theirs.api, "Theirs");
    const foreign = await ours.api(method, `/labels/${label.id}`, body);
    const unknown = await ours.api(method, `/labels/${newId("lbl", null)}`, body);
    expectError(foreign, 404, "label_not_found");
    expect(seen(foreign)).toEqual(seen(unknown));
    expect(await namesOf(theirs.api)).toEqual(["Theirs"]);
  },
);

test("a member manages labels in the console", async () => {
  const { ownerId, at } = await place();
  const ask = browser(await signInMember(ownerId));
  const { label } = created(await ask("POST", `${at}/labels`, { name: "Refund" }));
  expect((await ask("PATCH", `${at}/labels/${label.id}`, { name: "New" })).body.label.name).toBe("New");
  expect((await ask("GET", `${at}/labels`)).body.labels).toEqual([{ ...label, name: "New" }]);
});

test("each change leaves an entry in the audit log, with the names of its fields", async () => {
  const { api, at, keyId } = await place();
  const { id } = await make(api, "Refund");
  await api("PATCH", `/labels/${id}`, { color: null });
  await api("DELETE", `/labels/${id}`);
  const { entries } = (await admin("GET", `${at}/audit?target=${id}`)).body;
  expect(entries).toMatchObject([
    { action: "label.delete", target: id, status: 200, changed: [], actor: { id: keyId } },
    { action: "label.update", target: id, status: 200, changed: ["color"] },
    { action: "label.create", target: id, status: 201, changed: ["name"] },
  ]);
});

test("the presets agent and manager manage labels, and viewer does not", () => {
  const names = Object.entries(PRESETS).filter(([, permissions]) => permissions.includes("labels:write"));
  expect(names.map(([name]) => name)).toEqual(["agent", "manager"]);
});

const OLD_AGENT = PRESETS.agent.filter((permission) => !["replies:write", "labels:write"].includes(permission));

test.each<[string, string[], boolean]>([
  ["an agent from before saved replies", OLD_AGENT, true],
  ["an agent", [...OLD_AGENT, "replies:write"], true],
  ["who lacks one of an agent's", [...OLD_AGENT.slice(1), "replies:write"], false],
  ["who lacks one and has another one twice", [...OLD_AGENT.slice(1), "chats:write"], false],
  ["a viewer", [...PRESETS.viewer], false],
  ["nobody", [], false],
])("the migration looks at the permissions of a member: %s", async (_name, permissions, isGiven) => {
  const { ownerId } = await newOrganization();
  const set = env.DB.prepare("update members set permissions = ? where id = ?");
  await set.bind(JSON.stringify(permissions), ownerId).run();
  const { queries = [] } = env.TEST_MIGRATIONS.find(({ name }) => name.includes("agents_write_labels")) ?? {};
  expect(queries).toHaveLength(1);
  // Again: a member who has the permission keeps it once.
  for (const query of [...queries, ...queries]) await env.DB.prepare(query).run();
  const row = env.DB.prepare("select permissions from members where id = ?").bind(ownerId);
  expect(JSON.parse((await row.first<string>("permissions")) ?? "")).toEqual([
    ...permissions,
    ...(isGiven ? ["labels:write"] : []),
  ]);
});
