import type { CredentialField } from "../../model/channel-description.ts";
import { NETWORKS } from "../../model/channel-kind.ts";
import { CommandError } from "../command-error.ts";
import { readSecret } from "./secret-input.ts";

/** A channel's credential: its name as an option, and the variable that holds it if it is a secret. */
interface Credential extends CredentialField {
  kind: string;
  network: string;
  flag: string;
  variable: string;
}

const CREDENTIALS: Credential[] = Object.entries(NETWORKS).flatMap(([kind, { network, credentials }]) =>
  credentials.map((field) => {
    const flag = field.name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return { ...field, kind, network, flag, variable: `PARLEY_${flag.replaceAll("-", "_").toUpperCase()}` };
  }),
);

/** The credentials that are options. */
export const OPEN_CREDENTIALS = CREDENTIALS.filter(({ isSecret }) => !isSecret);

/** The credentials that are read from a variable or asked for. */
const SECRETS = CREDENTIALS.filter(({ isSecret }) => isSecret);

/** The secrets that `--replace` can name. */
export const SECRET_NAMES = [...new Set(SECRETS.map(({ flag }) => flag))];

/** The variable of each secret, by its field's path. Errors name the variable. */
export const VARIABLE_OF: Record<string, string> = Object.fromEntries(
  SECRETS.map(({ name, variable }) => [`credentials.${name}`, variable]),
);

/** The variable of each secret, by its name. */
export const VARIABLE_OF_SECRET: Record<string, string> = Object.fromEntries(
  SECRETS.map(({ flag, variable }) => [flag, variable]),
);

/** The variables of the secrets, with the kind that each is for. */
export const VARIABLES_BY_KIND = Object.keys(NETWORKS)
  .map(
    (kind) =>
      `${secretsOf(kind)
        .map(({ variable }) => variable)
        .join(" and ")} (${kind})`,
  )
  .join(", or ");

/** The secrets of a kind of channel, the most important first. */
export function secretsOf(kind: string): Credential[] {
  return SECRETS.filter((secret) => secret.kind === kind);
}

/** Reads the secrets of a new channel. The service checks the kind. */
export function credentialsOf(kind: string): Promise<Record<string, string>> {
  return read(secretsOf(kind));
}

/** Reads new values for the named secrets. @throws CommandError with exit code 2 for an unknown name */
export function replaced(names: string[] = []): Promise<Record<string, string>> {
  if (names.some((name) => !SECRET_NAMES.includes(name))) {
    throw new CommandError(`--replace must be one of ${SECRET_NAMES.join(", ")}.`, 2);
  }
  return read(SECRETS.filter(({ flag }) => names.includes(flag)));
}

async function read(secrets: Credential[]): Promise<Record<string, string>> {
  const credentials: Record<string, string> = {};
  for (const { name, label, network, variable } of secrets) {
    credentials[name] ??= process.env[variable] || (await readSecret(`${label} from ${network} (not shown): `));
  }
  return credentials;
}
