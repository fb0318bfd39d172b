import { app } from "./app.ts";
import { checkAlarms } from "./organizations/alarm-net.ts";
import { causeOf } from "./platform/log.ts";

export { ChannelObject } from "./channels/object/channel-object.ts";
export { ChatObject } from "./chats/object/chat-object.ts";
export { KeyObject } from "./keys/object/key-object.ts";
export { OrganizationObject } from "./organizations/object/organization-object.ts";
export { SearchIndexObject } from "./search/object/search-index-object.ts";
export { WebhookObject } from "./webhooks/object/webhook-object.ts";

/** The cron trigger, each minute. */
async function scheduled({ scheduledTime }: ScheduledController, env: Env): Promise<void> {
  try {
    await checkAlarms(env, scheduledTime);
  } catch (error) {
    console.error({ event: "alarm_net_failed", error: causeOf(error) });
  }
}

export default Object.assign(app, { scheduled });
