import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { open } from "../../../src/secrets/sealing.ts";
import { admin, newChannel, newOrganization } from "../../support/harness.ts";
import { failEachStep } from "./every-step.ts";
import { quietly } from "./fixtures.ts";
import { rows } from "./looks.ts";

quietly();

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
const newSecret = () => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))));

interface Rotated {
  organizationId: string;
  bindings: { CREDENTIALS_KEY: string; CREDENTIALS_KEY_PREVIOUS: string };
}

const COLUMNS = ["credentials", "verify_token", "identity_secret", "identity_previous"];

/** The key that opens each sealed text of the channels. */
async function sealedUnder({ organizationId, bindings }: Rotated): Promise<("new" | "old" | "none")[]> {
  const channels = await rows("channels", "organization_id = ? order by created_at, id", organizationId);
  const sealed = channels.flatMap((row) =>
    COLUMNS.map((column) => ({ id: String(row.id), column, text: row[column] })),
  );
  const opens = ({ id, column, text }: (typeof sealed)[number], key: string) =>
    open({ current: bytesOf(key), previous: undefined }, { id, column }, String(text)).then(
      () => true,
      () => false,
    );
  return Promise.all(
    sealed
      .filter(({ text }) => text !== null)
      .map(async (one) => {
        if (await opens(one, bindings.CREDENTIALS_KEY)) return "new";
        return (await opens(one, bindings.CREDENTIALS_KEY_PREVIOUS)) ? "old" : "none";
      }),
  );
}

test("a reseal that fails at any step leaves all texts readable, and a repeated one seals all with the new key", async () => {
  const { names } = await failEachStep<Rotated, string[]>({
    place: async () => {
      // The channels of earlier attempts are sealed with keys that are gone.
      await env.DB.prepare("delete from channels").run();
      const { organizationId, channelId } = await newOrganization();
      await admin("POST", `/channels/${channelId}/identity-secret`, { overlapSeconds: 60 });
      await newChannel(organizationId, "telegram");
      await newChannel(organizationId, "whatsapp");
      const bindings = { CREDENTIALS_KEY: newSecret(), CREDENTIALS_KEY_PREVIOUS: env.CREDENTIALS_KEY };
      return { organizationId, bindings };
    },
    act: ({ bindings }) => admin("POST", "/reseal", undefined, bindings),
    look: sealedUnder,
    between: (left, done) => left.length === done.length && !left.includes("none"),
  });
  expect(names.filter((name) => name.startsWith("D1 update channels")).length).toBeGreaterThan(0);
});
