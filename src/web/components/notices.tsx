import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Texts } from "../locales/en.ts";
import type { LinkState, SessionView } from "../session.ts";
import { linkText, reasonOf } from "../texts.ts";
import type { Words } from "./words.ts";

/** How the page stands with the server. The element is always there: only then is a change in it announced. */
export function ConnectionStatus({ link, texts }: { link: LinkState; texts: Texts }): JSX.Element {
  const [wasAway, setWasAway] = useState(false);
  useEffect(() => {
    if (link === "offline" || link === "crowded") setWasAway(true);
  }, [link]);
  const text = linkText(link, texts);
  return (
    <div role="status" class={text === null ? "hidden" : `status status-${typeof link === "number" ? "ended" : link}`}>
      {text ?? (wasAway ? texts.connected : "")}
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
