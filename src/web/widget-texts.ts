import type { Language } from "./language.ts";

/** What the button says. Few words, so that a site loads no more than it shows. */
export const WIDGET_TEXTS: Record<Language, { open: string; close: string; chat: string; unread: string }> = {
  en: { open: "Open chat", close: "Close chat", chat: "Chat", unread: "unread" },
  de: { open: "Chat öffnen", close: "Chat schließen", chat: "Chat", unread: "ungelesen" },
  fr: { open: "Ouvrir le chat", close: "Fermer le chat", chat: "Chat", unread: "non lus" },
  es: { open: "Abrir el chat", close: "Cerrar el chat", chat: "Chat", unread: "sin leer" },
  ar: { open: "فتح المحادثة", close: "إغلاق المحادثة", chat: "محادثة", unread: "غير مقروءة" },
};
