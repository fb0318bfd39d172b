import { expect, test } from "vitest";
import { admin, newOrganization } from "../../support/harness.ts";
import { failEachStep } from "./every-step.ts";
import { quietly } from "./fixtures.ts";
import { entriesOf, rows } from "./looks.ts";

quietly();

const BODIES = {
  members: { name: "Grace" },
  channels: { kind: "telegram", name: "Bot", credentials: { botToken: "123456:telegram-bot-token" } },
  templates: { name: "order", language: "en", body: "Order {{number}}" },
  replies: { name: "Bye", content: "Bye {{contact.name}}" },
  keys: { name: "Shop" },
};
const TABLES = {
  members: "members",
  channels: "channels",
  templates: "templates",
  replies: "replies",
  keys: "api_keys",
};

test.each(Object.keys(BODIES) as (keyof typeof BODIES)[])(
  "an addition to %s is complete or not made, whichever step fails",
  async (list) => {
    const { names } = await failEachStep<{ organizationId: string }, (string | null)[]>({
      place: newOrganization,
      act: ({ organizationId }) => admin("POST", `/organizations/${organizationId}/${list}`, BODIES[list]),
      look: async ({ organizationId }) => {
        const found = await rows(TABLES[list], "organization_id = ? order by created_at, id", organizationId);
        return found.map(({ name }) => String(name)).filter((name) => name === BODIES[list].name);
      },
      twice: [BODIES[list].name, BODIES[list].name],
    });
    expect(names.some((name) => name.startsWith(`D1 insert into ${TABLES[list]}`))).toBe(true);
  },
);

test("an organization is created with its first member and its audit entry or not at all, whichever step fails", async () => {
  let organizations = 0;
  const one = { organizations: 1, members: 1, entries: 1 };
  const { names } = await failEachStep<string, typeof one>({
    place: async () => `organization ${++organizations} of the failing steps`,
    act: (name) => admin("POST", "/organizations", { name, owner: { name } }),
    look: async (name) => {
      const found = await rows("organizations", "name = ?", name);
      const entries = await Promise.all(found.map(({ id }) => entriesOf(String(id))));
      return {
        organizations: found.length,
        members: (await rows("members", "name = ?", name)).length,
        entries: entries.flat().filter(({ action }) => action === "organization.create").length,
      };
    },
    twice: { organizations: 2, members: 2, entries: 2 },
  });
  expect(names).toEqual(
    expect.arrayContaining([expect.stringMatching(/^D1 batch: insert into organizations/), "ORGANIZATIONS.beginAct"]),
  );
});
