import { CommandError } from "../command-error.ts";
import { readSecret } from "./secret-input.ts";

/** The secrets of channels: their names in the API, and where the command line reads them. */
const SECRETS = {
  "bot-token": { field: "botToken", variable: "PARLEY_BOT_TOKEN", prompt: "Bot token from Telegram" },
  "access-token": { field: "accessToken", variable: "PARLEY_ACCESS_TOKEN", prompt: "Access token from WhatsApp" },
  "app-secret": { field: "appSecret", variable: "PARLEY_APP_SECRET", prompt: "Secret of the Meta app" },
} as const;

/** The variable of each secret, by its field's path. Errors name the variable. */
export const VARIABLE_OF: Record<string, string> = Object.fromEntries(
  Object.values(SECRETS).map(({ field, variable }) => [`credentials.${field}`, variable]),
);

type Name = keyof typeof SECRETS;
const NAMES = Object.keys(SECRETS) as Name[];

const OF_KIND: Record<string, Name[]> = { telegram: ["bot-token"], whatsapp: ["access-token", "app-secret"] };

/** Reads the secrets of a new channel. The service checks the kind. */
export function credentialsOf(kind: string): Promise<Record<string, string>> {
  return read(OF_KIND[kind] ?? []);
}

/** Reads new values for the named secrets. @throws CommandError with exit code 2 for an unknown name */
export function replaced(names: string[] = []): Promise<Record<string, string>> {
  const known = NAMES.filter((name) => names.includes(name));
  if (known.length < new Set(names).size) {
    throw new CommandError(`--replace must be one of ${NAMES.join(", ")}.`, 2);
  }
  return read(known);
}

async function read(names: Name[]): Promise<Record<string, string>> {
  const credentials: Record<string, string> = {};
  for (const name of names) {
    const { field, variable, prompt } = SECRETS[name];
    credentials[field] = process.env[variable] || (await readSecret(`${prompt} (not shown): `));
  }
  return credentials;
}
