import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { PERMISSIONS } from "../../../src/model/permission.ts";
import { browser, signIn, signInMember } from "../../support/console.ts";
import { admin, expectError, newOrganization } from "../../support/harness.ts";

/** A body of a request, during whose transfer the deletion of the organization begins. */
function bodyDuringDeletion(body: object, organizationId: string): ReadableStream {
  const begin = env.DB.prepare("update organizations set erasing_at = 1 where id = ?").bind(organizationId);
  const source: UnderlyingSource = {
    async pull(controller) {
      await begin.run();
      controller.enqueue(new TextEncoder().encode(JSON.stringify(body)));
      controller.close();
    },
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

const ACTS: [string, object][] = [
  ["members", { name: "Bea" }],
  ["templates", { name: "t", language: "en", body: "Hi" }],
  ["replies", { name: "r", content: "Hi" }],
  ["labels", { name: "l" }],
  ["channels", { kind: "web", name: "Site" }],
  ["keys", { name: "Key", permissions: [] }],
  ["webhooks", { url: "https://hooks.acme.test" }],
];

test.each(ACTS)(
  "%s: a person whose organization is being deleted meanwhile hears that it is gone",
  async (list, body) => {
    for (const isMember of [false, true]) {
      const { organizationId, ownerId } = await newOrganization({ selfService: {} });
      await admin("PATCH", `/members/${ownerId}`, { permissions: PERMISSIONS });
      const ask = browser(isMember ? await signInMember(ownerId) : await signIn());
      const sent = bodyDuringDeletion(body, organizationId);
      const answer = await ask("POST", `/organizations/${organizationId}/${list}`, sent, { bindings: {} });
      expectError(answer, 404, "organization_not_found");
      expect(answer.headers.get("WWW-Authenticate")).toBeNull();
    }
  },
);
