import { channelRecord } from "../calls/channel-record.ts";
import { type SyncCounts, syncTemplates } from "../channels/templates/sync.ts";
import { directory } from "../db/client.ts";
import { rowOf } from "../db/rows.ts";
import { channels } from "../db/schema.ts";
import { fault } from "../http/validation.ts";
import type { Scope } from "../model/caller.ts";
import { ApiError, rejectedText, unavailable } from "../model/error.ts";

/**
 * Syncs the templates of a channel's account at its network.
 * @throws ApiError `channel_not_found`; `validation_failed` if the channel has no such account; `refused_by_network`;
 *   `unavailable` if the network does not answer. What it listed until then is stored
 */
export async function syncOf(env: Env, scope: Scope, id: string): Promise<SyncCounts> {
  await rowOf(directory(env), scope, channels, id, "channel_not_found");
  const record = await channelRecord(env, id, { fresh: "now" });
  if (!record) throw new ApiError("channel_not_found");
  const { outcome, ...answer } = await syncTemplates(env, record);
  if (outcome === "no_templates") throw fault("id", "is a channel whose network has no templates");
  if (outcome === "no_account") throw fault("id", "is a channel without settings.wabaId");
  if ("created" in answer) return answer;
  const { description = "" } = answer as { description?: string };
  if (outcome === "refused") throw new ApiError("refused_by_network", { text: rejectedText(description) });
  throw unavailable(description);
}
