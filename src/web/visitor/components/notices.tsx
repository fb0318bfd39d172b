import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Texts } from "../locales/en.ts";
import type { LinkState, SessionView } from "../session.ts";
import { helpText, linkText, reasonOf } from "../texts.ts";
import { Icon } from "./icons.tsx";
import type { Words } from "./words.ts";

/**
 * The state of the connection. `alone`: there are no messages, so a chat that is over fills the page. The element is
 * always there, because only a change within it is announced.
 */
export function ConnectionStatus({
  link,
  texts,
  alone,
}: {
  link: LinkState;
  texts: Texts;
  alone: boolean;
}): JSX.Element {
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

/** The last refusal, announced at once; the message itself keeps its reason and its button in the list. */
export function RefusalNotice({ notice, words }: { notice: SessionView["notice"]; words: Words }): JSX.Element {
  const { texts, locale } = words;
  const waits = notice?.kind === "wait";
  return (
    <div role="alert" class={waits ? "notice" : "hidden"}>
      {waits && texts.hurry}
      {notice?.kind === "trouble" && `${texts.notSent}. ${reasonOf(notice.trouble, texts, locale)}`}
    </div>
  );
}
