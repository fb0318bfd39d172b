// biome-ignore-all assist/source/organizeImports: like code stands close together in the file, because it compresses well
/** The screens that manage an organization, in a file that is fetched when the first of them is opened. */
export { Members } from "./members/members.tsx";
export { Audit } from "./audit/audit.tsx";
export { Webhooks } from "./webhooks/webhooks.tsx";
export { Keys } from "./keys/keys.tsx";
export { Statistics } from "./statistics/statistics.tsx";
export { Channels } from "./channels/channels.tsx";
export { Templates } from "./templates/templates.tsx";
export { Settings } from "./settings/settings.tsx";
export { Scheduled } from "./scheduled/scheduled.tsx";
