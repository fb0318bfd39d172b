// biome-ignore-all assist/source/organizeImports: like code stands close together in the file, because it compresses well
/** The screens that manage an organization, and what is opened in the inbox now and then: in a file that is fetched later. */
export { OrganizationScreen } from "./screens/organization-screen.tsx";
export { MessagePanel } from "./inbox/message-panel.tsx";
export { NewChat } from "./inbox/new-chat.tsx";
export { UndoDialog } from "./inbox/undo-dialog.tsx";
export { LaterDialog } from "./inbox/later-dialog.tsx";
export { Banners } from "./notifications/banners.tsx";
export { NoteComposer } from "./notes/note-composer.tsx";
export { ChoicesDialog } from "./inbox/choices-dialog.tsx";
export { TemplateDialog } from "./inbox/template-dialog.tsx";
export { Organizations } from "./screens/organizations.tsx";
export { NotificationsDialog } from "./notifications/notifications-dialog.tsx";
export { ShortcutList } from "./shortcut-list.tsx";
export { SearchBar } from "./inbox/search-bar.tsx";
export { Palette } from "./palette.tsx";
export * from "../shared/later.ts";
