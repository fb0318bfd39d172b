import type { Language } from "./language.ts";

export interface WidgetTexts {
  open: string;
  close: string;
  chat: string;
  /** Follows what the button does. `{count}` is a placeholder. */
  unread: string;
  missing: string;
}

/** The widget's texts. They are separate from the page's texts, so that sites load little. */
export const ENGLISH: WidgetTexts = {
  open: "Open chat",
  close: "Close chat",
  chat: "Chat",
  unread: "{count} unread",
  missing: "The chat can’t be shown on this page.",
};

/** The widget's texts in the other languages, without those that are the page's. */
export const OWN_WIDGET_TEXTS: Record<Exclude<Language, "en">, Omit<WidgetTexts, "close" | "chat">> = {
  ar: {
    open: "فتح المحادثة",
    unread: "رسائل غير مقروءة: {count}",
    missing: "لا يمكن عرض المحادثة في هذه الصفحة.",
  },
  de: {
    open: "Chat öffnen",
    unread: "{count} ungelesen",
    missing: "Der Chat kann auf dieser Seite nicht angezeigt werden.",
  },
  es: {
    open: "Abrir el chat",
    unread: "{count} sin leer",
    missing: "El chat no se puede mostrar en esta página.",
  },
  fr: {
    open: "Ouvrir le chat",
    unread: "messages non lus : {count}",
    missing: "Le chat ne peut pas être affiché sur cette page.",
  },
  it: {
    open: "Apri la chat",
    unread: "messaggi non letti: {count}",
    missing: "Non è possibile mostrare la chat in questa pagina.",
  },
  ja: {
    open: "チャットを開く",
    unread: "未読{count}件",
    missing: "このページではチャットを表示できません。",
  },
  nl: {
    open: "Chat openen",
    unread: "{count} ongelezen",
    missing: "De chat kan op deze pagina niet worden getoond.",
  },
  pl: {
    open: "Otwórz czat",
    unread: "nieprzeczytane: {count}",
    missing: "Nie można wyświetlić czatu na tej stronie.",
  },
  pt: {
    open: "Abrir o chat",
    unread: "mensagens não lidas: {count}",
    missing: "Não é possível mostrar o chat nesta página.",
  },
  tr: {
    open: "Sohbeti aç",
    unread: "{count} okunmamış",
    missing: "Sohbet bu sayfada gösterilemiyor.",
  },
  zh: {
    open: "打开聊天",
    unread: "{count} 条未读",
    missing: "无法在此页面上显示聊天。",
  },
};
