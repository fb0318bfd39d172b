import { newestSeq } from "./conversation.ts";
import type { HostFrame } from "./host-frame.ts";
import type { SessionView } from "./session-view.ts";

/** Tells the widget what is new, or shows it in the title of a page of its own. @returns what takes each change */
export function newsFor(host: HostFrame | null): (view: SessionView) => void {
  const { title } = document;
  /** The number that the widget has, or the title shows; null before. */
  let shown: number | null = null;
  /** The newest message that was reported to the site. Until the history is here, none is new. */
  let announced = Number.POSITIVE_INFINITY;
  let known = false;
  return ({ unread, conversation }) => {
    const { entries, caughtUp } = conversation;
    // Until all is there, a widget that has built its frame again keeps its number.
    if (unread !== shown && (caughtUp || shown !== null)) {
      shown = unread;
      if (host) host.post({ parley: "unread", count: unread });
      else document.title = unread > 0 ? `(${unread}) ${title}` : title;
    }
    if (!known && (known = entries.length > 0)) host?.post({ parley: "known" });
    if (!caughtUp) return;
    for (const { message } of entries) {
      const { seq, direction } = message;
      if (seq > announced) host?.post({ parley: "message", seq, direction });
    }
    announced = newestSeq(conversation);
  };
}
