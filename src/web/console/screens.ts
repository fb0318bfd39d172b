// biome-ignore-all assist/source/organizeImports: like code stands close together in the file, because it compresses well
/** The screens that manage an organization, and what is opened in the inbox now and then: in a file that is fetched later. */
export { Members } from "./members/members.tsx";
export { Organizations } from "./screens/organizations.tsx";
export { Audit } from "./audit/audit.tsx";
export { Settings } from "./settings/settings.tsx";
export { Webhooks } from "./webhooks/webhooks.tsx";
export { Keys } from "./keys/keys.tsx";
export { Statistics } from "./statistics/statistics.tsx";
export { UndoDialog } from "./inbox/undo-dialog.tsx";
export { Channels } from "./channels/channels.tsx";
export { ShortcutList } from "./shortcut-list.tsx";
export { Scheduled } from "./scheduled/scheduled.tsx";
export { LaterDialog } from "./inbox/later-dialog.tsx";
export { MessagePanel } from "./inbox/message-panel.tsx";
export { NewChat } from "./inbox/new-chat.tsx";
export { NoteComposer } from "./notes/note-composer.tsx";
export { Palette } from "./palette.tsx";
export { Banners } from "./notifications/banners.tsx";
export { NotificationsDialog } from "./notifications/notifications-dialog.tsx";
export { Templates } from "./templates/templates.tsx";
export { TemplateDialog } from "./inbox/template-dialog.tsx";
export { ChoicesDialog } from "./inbox/choices-dialog.tsx";
export { SearchBar } from "./inbox/search-bar.tsx";
