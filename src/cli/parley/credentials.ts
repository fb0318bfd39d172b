import { CommandError } from "../command-error.ts";
import { readSecret } from "./secret-input.ts";

/** The secrets of channels: what the service calls them, and where a person puts them. */
const SECRETS = {
  "bot-token": { field: "botToken", variable: "PARLEY_BOT_TOKEN", prompt: "Telegram's bot token" },
  "access-token": { field: "accessToken", variable: "PARLEY_ACCESS_TOKEN", prompt: "WhatsApp's access token" },
  "app-secret": { field: "appSecret", variable: "PARLEY_APP_SECRET", prompt: "The Meta app's secret" },
} as const;

type Name = keyof typeof SECRETS;
const NAMES = Object.keys(SECRETS) as Name[];

const OF_KIND: Record<string, Name[]> = { telegram: ["bot-token"], whatsapp: ["access-token", "app-secret"] };

/** All that a new channel of a kind must show its network. What the kind may be is for the service to say. */
export function credentialsOf(
  kind: string,
  phoneNumberId: string | undefined,
): Promise<Record<string, string> | undefined> {
  return read(OF_KIND[kind] ?? [], phoneNumberId);
}

/** Those that are to be replaced; undefined when there are none. @throws CommandError with exit code 2 */
export function replaced(
  names: string[],
  phoneNumberId: string | undefined,
): Promise<Record<string, string> | undefined> {
  const known = NAMES.filter((name) => names.includes(name));
  if (known.length < new Set(names).size) throw new CommandError(`--replace takes the names ${NAMES.join(", ")}.`, 2);
  return read(known, phoneNumberId);
}

async function read(names: Name[], phoneNumberId: string | undefined): Promise<Record<string, string> | undefined> {
  const credentials: Record<string, string> = {};
  if (phoneNumberId !== undefined) credentials.phoneNumberId = phoneNumberId;
  for (const name of names) {
    const { field, variable, prompt } = SECRETS[name];
    credentials[field] = process.env[variable] || (await readSecret(`${prompt} (not shown): `));
  }
  return Object.keys(credentials).length > 0 ? credentials : undefined;
}
