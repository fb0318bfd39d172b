import { and, eq, isNull, sql } from "drizzle-orm";
import { callOrganization } from "../calls/call-organization.ts";
import { changeKeys } from "../calls/change-key.ts";
import { type Directory, directory } from "../db/client.ts";
import { apiKeys, channels } from "../db/schema.ts";
import { fault } from "../http/validation.ts";
import type { ChannelSettings } from "../model/channel.ts";
import { canBeBot } from "../model/handover.ts";
import { warnIfFails } from "../platform/log.ts";

/** @throws ApiError `validation_failed` unless the settings name no bot, or a key that can answer contacts */
export async function checkBot(db: Directory, organizationId: string, { bot }: ChannelSettings): Promise<void> {
  if (!bot) return;
  const { permissions, draftsOnly, expiresAt, revokedAt } = apiKeys;
  const key = await db
    .select({ permissions, draftsOnly, expiresAt, revokedAt })
    .from(apiKeys)
    .where(and(eq(apiKeys.id, bot.keyId), eq(apiKeys.organizationId, organizationId)))
    .get();
  if (key && canBeBot(key, Date.now())) return;
  const text =
    "must be the id of a key of the organization that has the permission messages:send, not draftsOnly, and is neither revoked nor expired";
  throw fault("settings.bot.keyId", text);
}

/** Whether a change of settings gives the channel another bot. */
function isOtherBot(before: ChannelSettings, after: ChannelSettings): boolean {
  return before.bot?.keyId !== after.bot?.keyId;
}

/** Runs `commit`, which writes settings, so that the bots' keys are bots, or are not, from their very next request. */
export function withBots<R>(env: Env, before: ChannelSettings, after: ChannelSettings, commit: () => Promise<R>) {
  const keyIds = [before.bot?.keyId, after.bot?.keyId].filter((id) => id !== undefined);
  return isOtherBot(before, after) ? changeKeys(env, keyIds, commit) : commit();
}

/** @throws ApiError `unavailable` if the object does not answer: it then reads the bots within a minute of its next use */
export async function startBots(env: Env, organizationId: string): Promise<void> {
  await callOrganization(env, organizationId, (organization) => organization.refresh());
}

/**
 * The key was revoked, or can do something else. If it is a bot, its organization's object learns of it.
 * That object reads the keys of bots again within a minute of its next use anyway.
 */
export async function tellIfBot(env: Env, organizationId: string, keyId: string): Promise<void> {
  await warnIfFails({ event: "bot_not_told", organizationId, keyId }, async () => {
    const [channel] = await directory(env)
      .select({ id: channels.id })
      .from(channels)
      .where(
        and(
          eq(channels.organizationId, organizationId),
          isNull(channels.erasingAt),
          sql`${channels.settings} ->> '$.bot.keyId' = ${keyId}`,
        ),
      )
      .limit(1);
    if (channel) await startBots(env, organizationId);
  });
}
