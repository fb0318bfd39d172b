import { expect, test } from "vitest";
import { admin, created, expectFaults, newOrganization } from "../../support/harness.ts";

test("a member is added with a public name, which a PATCH changes and null takes away", async () => {
  const { organizationId } = await newOrganization();
  const path = `/organizations/${organizationId}/members`;
  const { member } = created(await admin("POST", path, { name: "Bob", publicName: "Bob of Acme" }));
  expect(member).toMatchObject({ name: "Bob", publicName: "Bob of Acme" });
  const changed = async (body: object) => (await admin("PATCH", `/members/${member.id}`, body)).body.member.publicName;
  expect(await changed({ publicName: "Support" })).toBe("Support");
  expect(await changed({ name: "Robert" })).toBe("Support");
  expect(await changed({ publicName: null })).toBeNull();
  expect(created(await admin("POST", path, { name: "Eve", publicName: null })).member.publicName).toBeNull();
});

test("a public name has 1 to 80 characters", async () => {
  const { organizationId, ownerId } = await newOrganization();
  const publicName = "é".repeat(80);
  const full = await admin("PATCH", `/members/${ownerId}`, { publicName });
  expect(full.body.member.publicName).toBe(publicName);
  for (const wrong of ["", "  ", "a".repeat(81), "\uD800", 1]) {
    const body = { name: "Bob", publicName: wrong };
    expectFaults(await admin("POST", `/organizations/${organizationId}/members`, body), "publicName");
    expectFaults(await admin("PATCH", `/members/${ownerId}`, body), "publicName");
  }
});
