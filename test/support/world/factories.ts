import { caller, type World } from "./world.ts";

/** Credentials of channels. No network knows them. */
export const CREDENTIALS = {
  web: undefined,
  telegram: { botToken: "123456:telegram-bot-token" },
  whatsapp: { phoneNumberId: "15550001111", accessToken: "whatsapp-access-token", appSecret: "whatsapp-app-secret" },
};

/** More requests than a test makes, and an hour, so that no window ends during a test. */
const UNLIMITED = { limit: 3_600_000, windowSeconds: 3_600 };

export interface Organization {
  world: World;
  id: string;
  /** Its first member. */
  memberId: string;
}

export interface Channel {
  organization: Organization;
  id: string;
  kind: keyof typeof CREDENTIALS;
  /** Telegram and WhatsApp only. */
  webhook: { url: string; verifyToken: string };
  /** Web only. */
  identitySecret: string;
}

let contacts = 0;

export async function createOrganization(world: World, overrides: object = {}): Promise<Organization> {
  const body = { name: "Acme", owner: { name: "Ann" }, search: { on: false }, ...overrides };
  const { organization, member } = await create(world, "/organizations", body);
  return { world, id: organization.id, memberId: member.id };
}

/** A key with the default permissions and practically no rate limit. `secret` is the text of the key. */
export async function createKey(of: Organization, overrides: object = {}): Promise<{ id: string; secret: string }> {
  const { key, secret } = await createIn(of, "keys", { name: "Key", rateLimit: UNLIMITED, ...overrides });
  return { id: key.id, secret };
}

/** A web channel, unless `overrides` name another kind. */
export async function createChannel(
  of: Organization,
  overrides: { kind?: Channel["kind"] } & Record<string, unknown> = {},
): Promise<Channel> {
  const { kind = "web" } = overrides;
  const body = { kind, name: "Desk", credentials: CREDENTIALS[kind], ...overrides };
  const { channel, identitySecret } = await createIn(of, "channels", body);
  return { organization: of, id: channel.id, kind, webhook: channel.webhook, identitySecret };
}

/** A chat with a contact of its own, unless `overrides` name the contact. */
export async function createChat(
  { organization, id: channelId }: Pick<Channel, "organization" | "id">,
  overrides: object = {},
): Promise<{ id: string; contact: { address: string }; createdAt: string }> {
  const body = { channelId, contact: { address: `contact-${++contacts}` }, ...overrides };
  return (await createIn(organization, "chats", body)).chat;
}

/** The id of a new template. */
export async function createTemplate(of: Organization, overrides: object = {}): Promise<string> {
  const body = { name: "order_shipped", language: "en", body: "Hello {{name}}", ...overrides };
  return (await createIn(of, "templates", body)).template.id;
}

function createIn({ world, id }: Organization, what: string, body: object) {
  return create(world, `/organizations/${id}/${what}`, body);
}

function create(world: World, path: string, body: object) {
  return caller(world, "/admin/v1", world.adminToken)("POST", path, body);
}
