import { env } from "cloudflare:workers";
import { hashOf, newKeyText } from "../../src/keys/key-text.ts";
import type { EndedAct } from "../../src/model/audit.ts";
import { OPERATOR } from "../../src/model/caller.ts";
import { newId, newSortableId, randomBase62 } from "../../src/model/id.ts";
import { DEFAULT_PERMISSIONS, PRESETS } from "../../src/model/permission.ts";
import { configured } from "../../src/platform/config.ts";
import { seal, sealingKeys } from "../../src/secrets/sealing.ts";

/** An organization with its owner, a web channel and a key. */
export interface StoredOrganization {
  organizationId: string;
  ownerId: string;
  channelId: string;
  keyId: string;
  /** The key's text. */
  secret: string;
  identitySecret: string;
}

/**
 * Stores what three requests of the operator would leave in the directory and in the audit log. Thousands of tests begin
 * with an organization, and with the requests all tests of the service take a seventh longer.
 */
export async function storeOrganization(): Promise<StoredOrganization> {
  const now = Date.now();
  const [organizationId, ownerId] = [newId("org", null), newId("mbr", null)];
  const [channelId, keyId] = [newId("chn", null), newId("key", null)];
  const identitySecret = randomBase62(32);
  const [secret, sealed] = await Promise.all([
    newKeyText(keyId, configured(env, "KEY_SECRET")),
    seal(sealingKeys(env), { id: channelId, column: "identity_secret" }, identitySecret),
  ]);
  await env.DB.batch([
    row("organizations", { id: organizationId, name: "Acme", created_at: now }),
    row("members", {
      id: ownerId,
      organization_id: organizationId,
      name: "Ada",
      email: "ada@acme.test",
      permissions: JSON.stringify(PRESETS.manager),
      created_at: now,
    }),
    row("channels", {
      id: channelId,
      organization_id: organizationId,
      kind: "web",
      name: "The web channel",
      settings: "{}",
      credential_hints: "{}",
      identity_secret: sealed,
      identity_by: OPERATOR,
      created_at: now,
    }),
    row("api_keys", {
      id: keyId,
      organization_id: organizationId,
      name: "Test",
      hash: await hashOf(secret),
      permissions: JSON.stringify(DEFAULT_PERMISSIONS),
      rate_limit: configured(env, "RATE_LIMIT"),
      window_seconds: configured(env, "RATE_LIMIT_WINDOW_SECONDS"),
      created_at: now,
    }),
  ]);
  const acts = [
    act(now - 2, "organization.create", organizationId, ["name", "owner", "search"]),
    act(now - 1, "channel.create", channelId, ["kind", "name"]),
    act(now, "key.create", keyId, ["name"]),
  ];
  await env.ORGANIZATIONS.getByName(organizationId).storeActs(organizationId, acts);
  return { organizationId, ownerId, channelId, keyId, secret, identitySecret };
}

function row(table: string, values: Record<string, string | number>): D1PreparedStatement {
  const columns = Object.keys(values);
  const places = columns.map(() => "?").join(", ");
  return env.DB.prepare(`insert into ${table} (${columns.join(", ")}) values (${places})`).bind(
    ...Object.values(values),
  );
}

function act(at: number, action: string, target: string, changed: string[]): EndedAct {
  const actor = { type: "operator", id: OPERATOR, name: "Operator" } as const;
  const id = newSortableId("aud", null, at);
  return { id, actor, action, target, requestId: crypto.randomUUID(), changed, status: 201 };
}
