import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { folded } from "../../../model/folding.ts";
import { TextButton } from "../parts/button.tsx";
import { Failure, Skeleton } from "../parts/states.tsx";
import { may } from "../session.ts";
import { ChatItems, type ChatRowsProps } from "./chat-items.tsx";
import { FoundMessages } from "./found-messages.tsx";
import { NoChats } from "./no-chats.tsx";

/** How many contacts are shown above messages at first. */
const FEW = 5;
/** The minimum length of a search in messages, as the service requires it. */
const MIN_LENGTH = 2;

/** What a search finds: contacts, and below them messages of all chats. */
export function SearchResults(props: ChatRowsProps) {
  const { filter, addressOf, openId } = props;
  const box = useRef<HTMLDivElement>(null);
  useArrows(box);
  if (!may("messages:read") || filter.search.length < MIN_LENGTH || folded(filter.search).length < MIN_LENGTH) {
    return (
      <div class="chats-rows" ref={box}>
        <Contacts {...props} few={Infinity} none={<NoChats {...props} />} />
      </div>
    );
  }
  return (
    <div class="chats-rows" ref={box}>
      <h2 class="found-title">Contacts</h2>
      <Contacts {...props} few={FEW} none={<p class="found-none">No matching contacts</p>} />
      <FoundMessages text={filter.search} channel={filter.channel} openId={openId} addressOf={addressOf} />
    </div>
  );
}

interface ContactsProps extends ChatRowsProps {
  /** How many are shown at first. */
  few: number;
  none: preact.JSX.Element;
}

function Contacts({ few, none, ...props }: ContactsProps) {
  const { store, openId } = props;
  const isAll = useSignal(false);
  const rows = store.rows.value;
  const error = store.error.value;
  useEffect(() => void (isAll.value = false), [store]);
  if (store.state.value === "loading") return <Skeleton rows={3} />;
  if (rows.length === 0 && !error) return none;
  // Keys can lead to any of them.
  const openAt = rows.findIndex(({ id }) => id === openId);
  const count = isAll.value ? rows.length : Math.max(few, openAt + 1);
  const more = () => {
    if (count >= rows.length) void store.more();
    isAll.value = true;
  };
  return (
    <>
      {error && <Failure error={error} onRetry={() => void store.load()} />}
      <ChatItems {...props} rows={rows.slice(0, count)} />
      {(count < rows.length || store.hasMore.value) && (
        <div class="day">
          <TextButton onClick={more}>Show more contacts</TextButton>
        </div>
      )}
    </>
  );
}

/** The arrows lead from the search field to what was found, and from one to the next. Escape leads back. */
function useArrows(box: { current: HTMLDivElement | null }): void {
  useEffect(() => {
    const field = document.getElementById("chat-search");
    const step = (event: KeyboardEvent) => {
      const { key, target } = event;
      const links = [...(box.current?.querySelectorAll("a") ?? [])];
      const at = links.indexOf(target as HTMLAnchorElement);
      const isIn = at >= 0;
      if (!isIn && target !== field) return;
      const by = key === "ArrowDown" || (key === "Enter" && !isIn) ? 1 : key === "ArrowUp" ? -1 : 0;
      const next = key === "Escape" && isIn ? field : by === 0 ? null : at + by < 0 ? isIn && field : links[at + by];
      if (!next) return;
      event.preventDefault();
      next.focus();
    };
    const area = field?.closest("section");
    area?.addEventListener("keydown", step);
    return () => area?.removeEventListener("keydown", step);
  }, []);
}
