import { expect, test, vi } from "vitest";
import { admin, created, expectError, newOrganization } from "../../support/harness.ts";

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const BODY = { name: "order_shipped", language: "en_US", body: "Hi {{name}}, order {{ order }} left. Bye {{name}}" };

async function post(changes: object = {}) {
  const { organizationId } = await newOrganization();
  const answer = await admin("POST", `/organizations/${organizationId}/templates`, { ...BODY, ...changes });
  return { organizationId, answer };
}

test("a template is returned with the names of its variables, each once, in order", async () => {
  const { organizationId, answer } = await post();
  const { template } = created(answer);
  expect(answer.body).toEqual({
    template: {
      id: expect.stringMatching(/^tpl_g[0-9A-Za-z]{15}$/),
      organizationId,
      ...BODY,
      variables: ["name", "order"],
      wabaId: null,
      components: null,
      parameterFormat: null,
      network: null,
      createdAt: TIME,
      updatedAt: template.createdAt,
    },
  });
  expect((await admin("GET", `/templates/${template.id}`)).body).toEqual({ template });
  expect((await admin("GET", `/organizations/${organizationId}/templates`)).body.templates).toEqual([template]);
});

test.each<[string, string[]]>([
  ["No variable", []],
  ["{{1}} and {{2}}", ["1", "2"]],
  ["{{ a }}{{a}}{{b_2}}", ["a", "b_2"]],
  ["{single} }} braces", []],
  ["{{constructor}} {{toString}}", ["constructor", "toString"]],
])("the variables of %j are %j", async (body, variables) => {
  expect(created((await post({ body })).answer).template).toMatchObject({ body, variables });
});

test.each<[object, string]>([
  [{ body: "Hi {{name" }, "body"],
  [{ body: "Hi {{}}" }, "body"],
  [{ body: "Hi {{first name}}" }, "body"],
  [{ body: `{{${"x".repeat(65)}}}` }, "body"],
  [{ body: "x".repeat(4_097) }, "body"],
  [{ body: 7 }, "body"],
  [{ name: "x".repeat(513) }, "name"],
  [{ language: "x".repeat(33) }, "language"],
])("a template with %j is a 400 for %s, on creation and on change", async (changes, path) => {
  const { organizationId, answer } = await post();
  const { id } = created(answer).template;
  const made = await admin("POST", `/organizations/${organizationId}/templates`, { ...BODY, ...changes });
  const changed = await admin("PATCH", `/templates/${id}`, changes);
  for (const refused of [made, changed]) {
    expectError(refused, 400, "validation_failed");
    expect(refused.body.errors).toEqual([{ path, message: expect.any(String) }]);
  }
  expect((await admin("GET", `/templates/${id}`)).body).toEqual(answer.body);
});

test("a placeholder __proto__ is a 400 that names it", async () => {
  const { answer } = await post({ body: "Hi {{ __proto__ }}" });
  expectError(answer, 400, "validation_failed");
  expect(answer.body.errors[0].message).toMatch(/__proto__/);
});

test.each(["name", "language", "body"])("a template without its %s is a 400 with an error", async (field) => {
  for (const value of [undefined, null, "  "]) {
    const { answer } = await post({ [field]: value });
    expect([answer.status, answer.body]).toEqual([400, { error: `${field} is required`, code: "missing_field" }]);
  }
});

test("a PATCH changes the fields in its body, and the variables with the text", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { answer } = await post();
  const { template } = created(answer);
  vi.advanceTimersByTime(1_000);
  const updatedAt = new Date().toISOString();
  const changed = await admin("PATCH", `/templates/${template.id}`, { body: "Only {{this}}" });
  expect(changed.body).toEqual({ template: { ...template, body: "Only {{this}}", variables: ["this"], updatedAt } });
  expect((await admin("GET", `/templates/${template.id}`)).body).toEqual(changed.body);
});

test("null in a template's PATCH is a 400, because a template has no defaults", async () => {
  const { answer } = await post();
  const { id } = created(answer).template;
  expectError(await admin("PATCH", `/templates/${id}`, { body: null }), 400, "missing_field", /^body is required$/);
});

test("a deleted template is returned and gone, and its messages keep their text", async () => {
  const { organizationId, channelId, api } = await newOrganization();
  const { template } = created(await admin("POST", `/organizations/${organizationId}/templates`, BODY));
  const { chat } = created(await api("POST", "/chats", { channelId, contact: { address: "someone" } }));
  const body = { content: "-", templateId: template.id, variables: { name: "Ada", order: 7 } };
  const { message } = created(await api("POST", `/chats/${chat.id}/messages`, body));
  const deleted = await admin("DELETE", `/templates/${template.id}`);
  expect([deleted.status, deleted.body]).toEqual([200, { template }]);
  expectError(await admin("DELETE", `/templates/${template.id}`), 404, "template_not_found", /^Template not found$/);
  expectError(await admin("PATCH", `/templates/${template.id}`, {}), 404, "template_not_found");
  expect((await api("GET", `/chats/${chat.id}/messages/${message.id}`)).body.message).toEqual(message);
  expect(message.text).toBe("Hi Ada, order 7 left. Bye Ada");
  // An isolate that has used it may use it for ten seconds more.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10_000 });
  expectError(await api("POST", `/chats/${chat.id}/messages`, body), 404, "template_not_found");
});
