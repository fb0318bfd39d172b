import * as z from "zod/mini";
import type { Credentials } from "../../model/channel.ts";
import type { Registration } from "../../model/network.ts";
import type { Network } from "../network/adapter.ts";
import { lenient } from "../network/lenient.ts";
import { statusText } from "../network/network-response.ts";
import { errorAnswer, errorText } from "./errors.ts";
import { graphFetch, readJson } from "./graph.ts";

/**
 * The fields of the app's webhook that the service reads. They belong to the app: an account that is subscribed to the app
 * reports all of them.
 */
export const FIELDS = [
  "messages",
  "smb_message_echoes",
  "standby",
  "messaging_handovers",
  "user_preferences",
  "account_update",
  "account_alerts",
  "phone_number_quality_update",
  "phone_number_name_update",
  "business_capability_update",
  "message_template_status_update",
  "message_template_quality_update",
  "message_template_components_update",
  "template_category_update",
] as const;
const OBJECT = "whatsapp_business_account";
const DEADLINE_MS = 15_000;

/** The ids of the app and of the account of a number, as its `health_status` names them. */
export interface Owners {
  appId: string | null;
  wabaId: string | null;
}

const entity = z.object({ entity_type: z.string(), id: z.string().check(z.regex(/^\d{1,32}$/)) });
const named = z.object({ health_status: lenient(z.object({ entities: z.array(z.unknown()) })) });
const subscriptions = z.object({
  data: z.array(z.object({ object: z.string(), fields: z.catch(z.array(z.unknown()), []) })),
});

const subscribedApps = z.object({
  data: z.array(z.object({ whatsapp_business_api_data: z.object({ id: z.string() }) })),
});
const APPS_IN_A_PAGE = 25;

/** @param body Meta's answer about a number, with its `health_status` */
export function ownersIn(body: unknown): Owners {
  const entities = named.safeParse(body).data?.health_status?.entities ?? [];
  const all = entities.flatMap((each) => entity.safeParse(each).data ?? []);
  const idOf = (type: string) => all.find(({ entity_type }) => entity_type === type)?.id ?? null;
  return { appId: idOf("APP"), wabaId: idOf("WABA") };
}

/** The fields of `FIELDS` that the app is not subscribed to; undefined if Meta does not say. Throws what `fetch` throws. */
export async function missingFields(
  { appId }: Owners,
  credentials: Credentials,
  network: Network,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  const subscribed = await subscribedFields(appId, credentials, network, signal);
  return subscribed && FIELDS.filter((field) => !subscribed.includes(field));
}

/**
 * Whether the account is subscribed to the app: else it reports nothing to it. Undefined if Meta does not say. Throws
 * what `fetch` throws.
 */
export async function isAccountSubscribed(
  { appId, wabaId }: Owners,
  credentials: Credentials,
  network: Network,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  if (appId === null || wabaId === null) return undefined;
  const response = await graphFetch(network, `${wabaId}/subscribed_apps`, credentials, { signal });
  const apps = subscribedApps.safeParse(await readJson(response, signal)).data?.data;
  if (apps?.some((each) => each.whatsapp_business_api_data.id === appId)) return true;
  // A full page may not be all.
  return apps && apps.length < APPS_IN_A_PAGE ? false : undefined;
}

/**
 * Subscribes the app to all fields, at `url`, and the number's account to the app; never throws. Other fields of the app
 * stay subscribed. Meta verifies `url` with `verifyToken` before it answers.
 */
export async function registerWhatsAppWebhook(
  url: string,
  verifyToken: string,
  credentials: Credentials,
  network: Network,
): Promise<Registration> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const ask = async (path: string, own: Credentials, init: { method?: string; body?: string; query?: Fields } = {}) => {
    const response = await graphFetch(network, path, own, { ...init, signal });
    const body = await readJson(response, signal);
    const error = errorAnswer.safeParse(body).data?.error;
    if (error) throw new Refused(error.code, errorText(error, own.accessToken));
    if (!response.ok) throw new Refused(null, statusText(response.status, `Meta answered ${response.status}`));
    return body;
  };
  try {
    const query = { fields: "health_status" };
    const owners = ownersIn(await ask(credentials.phoneNumberId ?? "", credentials, { query }));
    const { appId, wabaId } = owners;
    if (appId === null || wabaId === null)
      throw new Refused(null, "Meta does not say which app and account the number has");
    const known = (await subscribedFields(appId, credentials, network, signal)) ?? [];
    const fields = [...new Set([...known, ...FIELDS])].join();
    const body = JSON.stringify({ object: OBJECT, callback_url: url, verify_token: verifyToken, fields });
    await ask(`${appId}/subscriptions`, appOf(appId, credentials), { method: "POST", body });
    await ask(`${wabaId}/subscribed_apps`, credentials, { method: "POST" });
    return {
      ok: true,
      code: null,
      description: `The app is subscribed to ${FIELDS.length} fields, and the account to the app`,
    };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, code: error.code, description: error.message };
    const description = signal.aborted ? "Meta did not answer in time" : "The connection to Meta failed";
    return { ok: false, code: null, description };
  }
}

type Fields = Record<string, string>;

/** Meta refused a step. */
class Refused extends Error {
  readonly code: number | null;
  constructor(code: number | null, message: string) {
    super(message);
    this.code = code;
  }
}

/** All fields that the app is subscribed to; undefined if Meta does not say. */
async function subscribedFields(
  appId: string | null,
  credentials: Credentials,
  network: Network,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  if (appId === null || !credentials.appSecret) return undefined;
  const response = await graphFetch(network, `${appId}/subscriptions`, appOf(appId, credentials), { signal });
  const found = subscriptions.safeParse(await readJson(response, signal)).data;
  // Each field has a version; earlier versions of the API have the name alone.
  const names = found?.data
    .filter(({ object }) => object === OBJECT)
    .flatMap(({ fields }) => fields.map((field) => (typeof field === "string" ? field : Object(field).name)));
  return names?.filter((name) => typeof name === "string" && /^[a-z_]{1,60}$/.test(name));
}

/** The app's own token, which alone may read and change the app's webhook. */
function appOf(appId: string, { appSecret = "" }: Credentials): Credentials {
  return { accessToken: `${appId}|${appSecret}`, appSecret };
}
