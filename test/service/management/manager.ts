import { PERMISSIONS } from "../../../src/model/permission.ts";
import { admin, type Client, client, newKey, newOrganization } from "../../support/harness.ts";

export interface Manager {
  organizationId: string;
  channelId: string;
  ownerId: string;
  /** The key that manages, with its settings. */
  keyId: string;
  api: Client;
}

/**
 * An organization with self-service, and a key that manages it.
 * @param settings of the key; all permissions by default
 * @param selfService the ceilings; none by default
 */
export async function newManager(settings: object = {}, selfService: object | null = {}): Promise<Manager> {
  const { organizationId, channelId, ownerId, keyId: first } = await newOrganization({ selfService });
  // Only the keys of the test count.
  await admin("DELETE", `/keys/${first}`);
  const { key, secret } = await newKey(organizationId, { permissions: [...PERMISSIONS], ...settings });
  return { organizationId, channelId, ownerId, keyId: key.id, api: client(secret) };
}
