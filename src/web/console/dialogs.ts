/** What a person opens in the inbox now and then, in a file that is fetched once the inbox is shown. */
export { LaterDialog } from "./inbox/later-dialog.tsx";
export { MessagePanel } from "./inbox/message-panel.tsx";
export { NewChat } from "./inbox/new-chat.tsx";
export { TemplateDialog } from "./inbox/template-dialog.tsx";
export { UndoDialog } from "./inbox/undo-dialog.tsx";
export { ShortcutList } from "./shortcut-list.tsx";
