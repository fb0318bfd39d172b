import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "../command-error.ts";
import { demoPath, readDemo } from "../demo-file.ts";
import { type EnvVariables, readVariables } from "../dev-vars.ts";
import { DEFAULT_PROFILE, type Profile, profilesPath, readProfiles } from "./profiles.ts";

/** A secret, and its source for messages. */
export interface Secret {
  value: string;
  from: string;
}

/** The address of the service and the secrets for it. */
export interface ServiceConnection {
  /** The checkout of this command. Null if it is installed as a package. */
  root: string | null;
  /** An origin, without a slash at the end. */
  url: string;
  urlFrom: string;
  /** Whether the service runs on this machine, with the files that `npm start` wrote to the checkout. */
  isHere: boolean;
  adminToken: Secret | null;
  apiKey: Secret | null;
}

/** Where the key of the demo organization comes from. */
export const FROM_DEMO = "npm start's demo";

const LOCAL_URL = "http://localhost:8787";
const TOKEN = /^[\x21-\x7e]+$/;

/**
 * Finds the service: in the named profile, else in the environment, the default profile, or what `npm start` wrote to
 * `root`. A saved secret is only used for the service that it was saved for.
 * @param root the checkout of this command; null if there is none
 * @throws CommandError with exit code 2 for a malformed address or secret
 */
export async function findConnection(
  root: string | null,
  env: Record<string, string | undefined>,
  profileName: string | undefined,
): Promise<ServiceConnection> {
  const profiles = await readProfiles(profilesPath(env));
  const name = profileName ?? DEFAULT_PROFILE;
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profileName !== undefined && !profile) {
    throw new CommandError(
      `There is no profile ${JSON.stringify(profileName)}. Create it with parley login --save.`,
      2,
    );
  }
  const given = profileName === undefined ? env : {};
  const { url, from } = addressOf(given.PARLEY_URL, profile, name);
  const isHere = isLocal(url);
  const saved = profile?.url === url ? profile : undefined;
  const local = isHere && root !== null && !saved ? await localSecrets(root) : {};
  const secret = (variable: string, ofProfile: string | undefined, ofCheckout: Secret | undefined): Secret | null => {
    const value = given[variable];
    if (value) return { value: tokenOf(value, variable), from: variable };
    return ofProfile ? { value: tokenOf(ofProfile, "the profile"), from: `profile ${name}` } : (ofCheckout ?? null);
  };
  return {
    root,
    url,
    urlFrom: from,
    isHere,
    adminToken: secret("PARLEY_ADMIN_TOKEN", saved?.adminToken, local.adminToken),
    apiKey: secret("PARLEY_API_KEY", saved?.apiKey, local.apiKey),
  };
}

/**
 * Parses a service's address.
 * @throws CommandError with exit code 2. It does not repeat the text, which may contain a password
 */
export function originOf(text: string, from: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search || url.hash) {
    throw new CommandError(`${from} must be the service's address alone, for example https://parley.example.`, 2);
  }
  if (url.username || url.password) throw new CommandError(`${from} must not contain a user or a password.`, 2);
  if (url.protocol === "http:" && !isLocal(url.origin)) {
    throw new CommandError(`${from} must start with https://, because a secret would be readable on the network.`, 2);
  }
  return url.origin;
}

/** Checks that a token can be sent in a header. @throws CommandError with exit code 2 */
export function tokenOf(text: string, from: string): string {
  if (TOKEN.test(text)) return text;
  throw new CommandError(`${from} is not a token. A token has ASCII letters, digits and symbols, without spaces.`, 2);
}

/** The variables in the checkout's `.dev.vars`, or null without that file. */
export async function devVariables(root: string): Promise<EnvVariables | null> {
  const text = await readFile(join(root, ".dev.vars"), "utf8").catch(() => null);
  return text === null ? null : readVariables(text);
}

/** The default data folder of `npm start`. */
export function defaultState(root: string): string {
  return join(root, ".wrangler", "state");
}

function addressOf(given: string | undefined, profile: Profile | undefined, name: string) {
  if (given) return { url: originOf(given, "PARLEY_URL"), from: "PARLEY_URL" };
  if (profile) return { url: originOf(profile.url, `The address of profile ${name}`), from: `profile ${name}` };
  return { url: LOCAL_URL, from: "npm start's own" };
}

function isLocal(origin: string): boolean {
  return /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(origin);
}

/** The secrets that `npm start` created: the operator's token and the demo's API key. */
async function localSecrets(root: string): Promise<{ adminToken?: Secret; apiKey?: Secret }> {
  const path = demoPath(defaultState(root));
  const [variables, demo] = await Promise.all([devVariables(root), readFile(path, "utf8").catch(() => "")]);
  const token = variables?.ADMIN_TOKEN;
  const key = readDemo(demo)?.key;
  return {
    ...(token && TOKEN.test(token) && { adminToken: { value: token, from: ".dev.vars" } }),
    ...(key && { apiKey: { value: key, from: FROM_DEMO } }),
  };
}
