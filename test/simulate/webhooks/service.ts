/** What the simulation runs: the service's own code, bundled with simulated globals and platform classes. */

export { callObject } from "../../../src/calls/call-object.ts";
export { ChatReporter } from "../../../src/chats/object/chat-report.ts";
export { ChatTables } from "../../../src/chats/object/log/chat-tables.ts";
export { EventLog } from "../../../src/chats/object/log/event-log.ts";
export { EVENT_TYPES, eventId, lifeDigits } from "../../../src/model/event.ts";
export { matches } from "../../../src/model/event-filter.ts";
export { SYSTEM_CLOCK } from "../../../src/platform/clock.ts";
export { StandingAlarm } from "../../../src/platform/object/alarm.ts";
export { DueWork } from "../../../src/platform/object/due-work.ts";
export { WebhookObject } from "../../../src/webhooks/object/webhook-object.ts";
export { ObjectSubscriptions } from "../../../src/webhooks/subscription/object-subscriptions.ts";
export { platform } from "../objects/globals.ts";
