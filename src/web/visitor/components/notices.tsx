import { useEffect, useState } from "preact/hooks";
import type { Texts } from "../locales/en.ts";
import type { LinkState, SessionView } from "../session-view.ts";
import { helpText, linkText, refusalReason } from "../texts.ts";
import { Icon } from "./icons.tsx";
import type { Words } from "./words.ts";

/**
 * The state of the connection. If `alone` (there are no messages), a final state fills the page. The element always
 * exists, because screen readers only announce changes inside it.
 */
export function ConnectionStatus({ link, texts, alone }: { link: LinkState; texts: Texts; alone: boolean }) {
  const [wasAway, setWasAway] = useState(false);
  useEffect(() => {
    if (link === "offline" || link === "crowded") setWasAway(true);
  }, [link]);
  const text = linkText(link, texts);
  const help = helpText(link, texts);
  const state = alone && help !== null ? "empty alone" : `status status-${help === null ? link : "ended"}`;
  return (
    <div role="status" class={text === null ? "hidden" : state}>
      {help === null ? (
        (text ?? (wasAway ? texts.connected : ""))
      ) : (
        <>
          {alone && <Icon name="notSent" />}
          <p class="empty-title">{text}</p>
          <p>{help}</p>
        </>
      )}
    </div>
  );
}

/** Tells screen readers at each quarter how much of a file was sent. */
export function UploadStatus({ uploading, locale }: { uploading: SessionView["uploading"]; locale: string }) {
  const quarters = Math.floor((uploading?.share ?? 0) * 4);
  return (
    <p role="status" class="hidden">
      {uploading && quarters > 0 && `${uploading.name}: ${(quarters / 4).toLocaleString(locale, { style: "percent" })}`}
    </p>
  );
}

/** Announces the last refusal immediately. A message in the list also shows the reason, with a button. */
export function RefusalNotice({ notice, words }: { notice: SessionView["notice"]; words: Words }) {
  const { texts, locale } = words;
  const isShown = notice && notice.kind !== "trouble";
  return (
    <div role="alert" class={isShown ? "notice" : "hidden"}>
      {notice?.kind === "wait" && texts.hurry}
      {notice && notice.kind !== "wait" && `${texts.notSent}. ${refusalReason(notice.trouble, texts, locale)}`}
    </div>
  );
}
