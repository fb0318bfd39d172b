import { lazyModule } from "./parts/lazy-module.tsx";

const module = lazyModule(() => import("./dialogs.ts"));

/** Fetches what the inbox opens now and then, so that it is there when it is wanted. */
export const fetchDialogs = module.fetchIt;

/** The components of `dialogs.ts`. */
export const Lazy = {
  LaterDialog: module.dialog((all) => all.LaterDialog),
  MessagePanel: module.part((all) => all.MessagePanel),
  NewChat: module.dialog((all) => all.NewChat),
  TemplateDialog: module.dialog((all) => all.TemplateDialog),
  UndoDialog: module.dialog((all) => all.UndoDialog),
  ShortcutList: module.dialog((all) => all.ShortcutList),
};
