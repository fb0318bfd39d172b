import { useState } from "preact/hooks";
import type { PageFacts } from "../../../model/page-facts.ts";
import type { ChatSession } from "../session.ts";
import type { SessionView } from "../session-view.ts";
import type { AskedFlag } from "../stored.ts";
import type { Words } from "./words.ts";

export interface AskContactProps {
  view: SessionView;
  facts: PageFacts;
  words: Words;
  session: ChatSession;
  asked: AskedFlag;
}

/** Asks an anonymous visitor, once, how the company can reach them. They can decline. */
export function AskContact({ view, facts, words, session, asked }: AskContactProps) {
  const [state, setState] = useState<"ask" | "sent" | "done">(() => (asked.get() ? "done" : "ask"));
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const { texts } = words;
  const { conversation, contactFault } = view;
  const hasWritten = conversation.entries.some(({ message }) => message.direction === "INBOUND");
  const isDue = facts.askContact === "afterFirst" || (facts.askContact === "whenClosed" && !facts.isOpen);
  // Before the first message there is no contact who could have a name.
  if (!isDue || !hasWritten || state === "done") return null;
  const end = (next: "sent" | "done") => {
    asked.set();
    setState(next);
  };
  if (state === "sent" && contactFault === null) {
    return (
      <p class="ask" role="status">
        {texts.contactThanks}
      </p>
    );
  }
  return (
    <form
      class="ask"
      aria-label={texts.askContact}
      onSubmit={(event) => {
        event.preventDefault();
        const contact = { ...(name.trim() && { name: name.trim() }), ...(email.trim() && { email: email.trim() }) };
        if (Object.keys(contact).length === 0) end("done");
        else if (session.tellContact(contact)) end("sent");
      }}
    >
      <p>{texts.askContact}</p>
      <label>
        {texts.contactName}
        <input
          autocomplete="name"
          maxLength={256}
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <label>
        {texts.contactEmail}
        <input
          type="email"
          autocomplete="email"
          maxLength={254}
          value={email}
          onInput={({ currentTarget }) => setEmail(currentTarget.value)}
        />
      </label>
      {contactFault !== null && (
        <p role="alert" class="excess">
          {contactFault}
        </p>
      )}
      <div>
        <button type="submit" class="pill" disabled={view.link !== "online"}>
          {texts.contactSend}
        </button>
        <button type="button" class="pill" onClick={() => end("done")}>
          {texts.contactSkip}
        </button>
      </div>
    </form>
  );
}
