import { lazyModule } from "./parts/lazy-module.tsx";

const later = lazyModule(() => import("./later.ts"));

/** Fetches `later.ts`, so that it is there when it is wanted. */
export const fetchLater = later.fetchIt;

/** The components of `later.ts`. */
export const Lazy = {
  Audit: later.part((all) => all.Audit),
  Channels: later.part((all) => all.Channels),
  Keys: later.part((all) => all.Keys),
  LaterDialog: later.dialog((all) => all.LaterDialog),
  Members: later.part((all) => all.Members),
  MessagePanel: later.part((all) => all.MessagePanel),
  NewChat: later.dialog((all) => all.NewChat),
  Scheduled: later.part((all) => all.Scheduled),
  SearchBar: later.part((all) => all.SearchBar),
  Settings: later.part((all) => all.Settings),
  ShortcutList: later.dialog((all) => all.ShortcutList),
  Statistics: later.part((all) => all.Statistics),
  TemplateDialog: later.dialog((all) => all.TemplateDialog),
  Templates: later.part((all) => all.Templates),
  UndoDialog: later.dialog((all) => all.UndoDialog),
  Webhooks: later.part((all) => all.Webhooks),
};
