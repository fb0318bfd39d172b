import { CommandError } from "../command-error.ts";
import { configurationPath, readPrivate, writePrivate } from "../private-file.ts";
import type { ServiceConnection } from "./connection.ts";
import { newSigningSecret } from "./forward.ts";

/** What `parley listen` remembers of a service and an API key. */
export interface ListenState {
  /** The signing secret, the same at each start. */
  secret: string;
  /** After the last event that was forwarded; null before the first start. */
  cursor: string | null;
}

type States = Record<string, ListenState>;

/** The path of the file, in the user's configuration folder. */
export function listenPath(env: Record<string, string | undefined>): string {
  return configurationPath(env, "listen.json");
}

/** The name of a service and a key's id, without the key's secret part. */
export function listenName({ url }: ServiceConnection, apiKey: string): string {
  return `${url} key_${apiKey.slice("ply_".length, "ply_".length + 16)}`;
}

/** Reads what is remembered under a name, or makes a new secret. @throws CommandError if the file is damaged */
export async function readListenState(path: string, name: string): Promise<ListenState> {
  const states = await readStates(path);
  return (Object.hasOwn(states, name) ? states[name] : undefined) ?? { secret: newSigningSecret(), cursor: null };
}

/** Saves the state. @throws CommandError */
export async function writeListenState(path: string, name: string, state: ListenState): Promise<void> {
  await writePrivate(path, { ...(await readStates(path)), [name]: state });
}

async function readStates(path: string): Promise<States> {
  const text = await readPrivate(path);
  if (text === null) return {};
  try {
    return JSON.parse(text) as States;
  } catch {
    throw new CommandError(`${path} is damaged. Remove it and run parley listen again.`);
  }
}
