import { lazyModule } from "./parts/lazy-module.tsx";

const screens = lazyModule(() => import("./screens.ts"));

/** Fetches `screens.ts`, so that it is there when it is wanted. */
export const fetchScreens = screens.fetchIt;

/** The components of `screens.ts`. */
export const Lazy = {
  Audit: screens.part((all) => all.Audit),
  Banners: screens.extra((all) => all.Banners),
  Channels: screens.part((all) => all.Channels),
  ChoicesDialog: screens.dialog((all) => all.ChoicesDialog),
  Keys: screens.part((all) => all.Keys),
  LaterDialog: screens.dialog((all) => all.LaterDialog),
  Members: screens.part((all) => all.Members),
  MessagePanel: screens.part((all) => all.MessagePanel),
  NoteComposer: screens.part((all) => all.NoteComposer),
  NewChat: screens.dialog((all) => all.NewChat),
  NotificationsDialog: screens.dialog((all) => all.NotificationsDialog),
  Organizations: screens.part((all) => all.Organizations),
  Palette: screens.dialog((all) => all.Palette),
  Scheduled: screens.part((all) => all.Scheduled),
  SearchBar: screens.part((all) => all.SearchBar),
  Settings: screens.part((all) => all.Settings),
  ShortcutList: screens.dialog((all) => all.ShortcutList),
  Statistics: screens.part((all) => all.Statistics),
  TemplateDialog: screens.dialog((all) => all.TemplateDialog),
  Templates: screens.part((all) => all.Templates),
  UndoDialog: screens.dialog((all) => all.UndoDialog),
  Webhooks: screens.part((all) => all.Webhooks),
};
