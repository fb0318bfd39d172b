import type { Language } from "./language.ts";

export interface WidgetTexts {
  open: string;
  close: string;
  chat: string;
  unread: string;
  missing: string;
}

/** The widget's texts. They are separate from the page's texts, so that sites load little. */
export const ENGLISH: WidgetTexts = {
  open: "Open chat",
  close: "Close chat",
  chat: "Chat",
  unread: "unread",
  missing: "The chat can’t be shown on this page.",
};

/** The widget's texts in the other languages, which it fetches: `/widget/de.json`. */
export const FETCHED_WIDGET_TEXTS: Record<Exclude<Language, "en">, WidgetTexts> = {
  de: {
    open: "Chat öffnen",
    close: "Chat schließen",
    chat: "Chat",
    unread: "ungelesen",
    missing: "Der Chat kann auf dieser Seite nicht angezeigt werden.",
  },
  fr: {
    open: "Ouvrir le chat",
    close: "Fermer le chat",
    chat: "Chat",
    unread: "non lus",
    missing: "Le chat ne peut pas être affiché sur cette page.",
  },
  es: {
    open: "Abrir el chat",
    close: "Cerrar el chat",
    chat: "Chat",
    unread: "sin leer",
    missing: "El chat no se puede mostrar en esta página.",
  },
  ar: {
    open: "فتح المحادثة",
    close: "إغلاق المحادثة",
    chat: "محادثة",
    unread: "غير مقروءة",
    missing: "لا يمكن عرض المحادثة في هذه الصفحة.",
  },
};
