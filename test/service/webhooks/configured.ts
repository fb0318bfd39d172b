import { env } from "cloudflare:workers";
import type { PERMISSIONS } from "../../../src/model/permission.ts";
import { client, created, newKey, newOrganization } from "../../support/harness.ts";

/** What a key needs to configure webhooks. */
export const WRITER: readonly (typeof PERMISSIONS)[number][] = ["events:read", "webhooks:read", "webhooks:write"];

let urls = 0;

/** A URL that no webhook has. */
export const newUrl = () => `https://receiver.test/hooks/${++urls}`;

/** A new organization with a key that configures webhooks. */
export async function newConfigurer() {
  const organization = await newOrganization();
  const { key, secret } = await newKey(organization.organizationId, { permissions: WRITER });
  const api = client(secret);
  /** Creates a webhook. */
  const newWebhook = async (body: Record<string, unknown> = {}) =>
    created(await api("POST", "/webhooks", { url: newUrl(), ...body })) as {
      // biome-ignore lint/suspicious/noExplicitAny: a test knows the type of its body
      webhook: any;
      secret: string;
    };
  return { ...organization, api, keyId: key.id, newWebhook };
}

/** A webhook's row in the directory; null if there is none. */
export function webhookRow(id: string) {
  return env.DB.prepare("select * from webhooks where id = ?").bind(id).first<Record<string, string | number | null>>();
}
