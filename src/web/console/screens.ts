// biome-ignore-all assist/source/organizeImports: like code stands close together in the file, because it compresses well
/** The screens that manage an organization, and what is opened in the inbox now and then: in a file that is fetched later. */
import "./screen-styles.ts";
export { Organizations } from "./screens/organizations.tsx";
export { LaterDialog } from "./inbox/later-dialog.tsx";
export { LabelsDialog } from "./inbox/labels-dialog.tsx";
export { BulkBar } from "./inbox/bulk-bar.tsx";
export { SnoozeDialog } from "./inbox/snooze-dialog.tsx";
export { OrganizationScreen } from "./screens/organization-screen.tsx";
export { BotNotice } from "./inbox/handler.tsx";
export { ContactPanel } from "./inbox/contact-panel.tsx";
export { MessagePanel } from "./inbox/message-panel.tsx";
export { UndoDialog } from "./inbox/undo-dialog.tsx";
export { ShortcutList } from "./shortcut-list.tsx";
export { NoChats } from "./inbox/no-chats.tsx";
export { NewChat } from "./inbox/new-chat.tsx";
export { Banners } from "./notifications/banners.tsx";
export { ChoicesDialog } from "./inbox/choices-dialog.tsx";
export { ReplyPicker } from "./inbox/reply-picker.tsx";
export { TemplateDialog } from "./inbox/template-dialog.tsx";
export { Palette } from "./palette.tsx";
export { NotificationsDialog } from "./notifications/notifications-dialog.tsx";
export { DropTargets } from "./inbox/drop-targets.tsx";
export { SearchBar } from "./inbox/search-bar.tsx";
export { SearchResults } from "./inbox/search-results.tsx";
export { ReachLinked } from "./inbox/reach-linked.tsx";
export * from "../shared/later.ts";
export { DraftActs } from "./inbox/draft-acts.tsx";
export { NoteComposer } from "./notes/note-composer.tsx";
