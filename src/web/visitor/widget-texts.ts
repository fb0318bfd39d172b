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

/**
 * The widget's texts in the other languages. It fetches those of one language, `/widget/de.json`, so that a further
 * language costs every site only its tag.
 */
export const FETCHED_WIDGET_TEXTS: Record<Exclude<Language, "en">, WidgetTexts> = {
  ar: {
    open: "فتح المحادثة",
    close: "إغلاق المحادثة",
    chat: "محادثة",
    unread: "رسائل غير مقروءة: {count}",
    missing: "لا يمكن عرض المحادثة في هذه الصفحة.",
  },
  de: {
    open: "Chat öffnen",
    close: "Chat schließen",
    chat: "Chat",
    unread: "{count} ungelesen",
    missing: "Der Chat kann auf dieser Seite nicht angezeigt werden.",
  },
  es: {
    open: "Abrir el chat",
    close: "Cerrar el chat",
    chat: "Chat",
    unread: "{count} sin leer",
    missing: "El chat no se puede mostrar en esta página.",
  },
  fr: {
    open: "Ouvrir le chat",
    close: "Fermer le chat",
    chat: "Chat",
    unread: "messages non lus : {count}",
    missing: "Le chat ne peut pas être affiché sur cette page.",
  },
  it: {
    open: "Apri la chat",
    close: "Chiudi la chat",
    chat: "Chat",
    unread: "messaggi non letti: {count}",
    missing: "Non è possibile mostrare la chat in questa pagina.",
  },
  ja: {
    open: "チャットを開く",
    close: "チャットを閉じる",
    chat: "チャット",
    unread: "未読{count}件",
    missing: "このページではチャットを表示できません。",
  },
  nl: {
    open: "Chat openen",
    close: "Chat sluiten",
    chat: "Chat",
    unread: "{count} ongelezen",
    missing: "De chat kan op deze pagina niet worden getoond.",
  },
  pl: {
    open: "Otwórz czat",
    close: "Zamknij czat",
    chat: "Czat",
    unread: "nieprzeczytane: {count}",
    missing: "Nie można wyświetlić czatu na tej stronie.",
  },
  pt: {
    open: "Abrir o chat",
    close: "Fechar o chat",
    chat: "Chat",
    unread: "mensagens não lidas: {count}",
    missing: "Não é possível mostrar o chat nesta página.",
  },
  tr: {
    open: "Sohbeti aç",
    close: "Sohbeti kapat",
    chat: "Sohbet",
    unread: "{count} okunmamış",
    missing: "Sohbet bu sayfada gösterilemiyor.",
  },
  zh: {
    open: "打开聊天",
    close: "关闭聊天",
    chat: "聊天",
    unread: "{count} 条未读",
    missing: "无法在此页面上显示聊天。",
  },
};
