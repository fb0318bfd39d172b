import { useSignal } from "@preact/signals";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import type { Chat } from "./api.ts";
import { takeKeys } from "./held-keys.ts";
import { follow, route } from "./location.ts";
import type { MenuEntry } from "./menu-entries.ts";
import { contactName } from "./names.ts";
import { useGet, usePlace } from "./organization.ts";
import { Dialog } from "./parts/dialog.tsx";
import { Icon, type IconName } from "./parts/icon.tsx";
import { closeDialog } from "./parts/opened-dialog.tsx";
import { workingShortcuts } from "./shortcuts.ts";

/** A search begins when nothing was typed for this long, because each has an entry in the audit log. */
const TYPING_MS = 300;
const MAX_CHATS = 8;

interface Found {
  id: string;
  icon: IconName;
  title: string;
  detail: string;
  /** Opens it, or does it. */
  run: () => void;
}

/** Finds a screen, a chat by its contact's name or address, or what a key does on the screen now. */
export function Palette({ entries }: { entries: MenuEntry[] }) {
  const { to } = usePlace();
  const id = useId();
  // It begins with what was typed before it was drawn.
  const text = useSignal(useMemo(takeKeys, []) ?? "");
  const settled = useSignal("");
  const at = useSignal(0);
  useEffect(() => {
    const timer = setTimeout(() => (settled.value = text.value.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text.value]);
  const chats = useGet(settled.value === "" ? null : "/chats", { query: { search: settled.value, limit: MAX_CHATS } });
  // What was found last stays until there is more, so that nothing jumps.
  const last = useRef<Chat[]>([]);
  last.current = settled.value === "" ? [] : (chats.data?.chats ?? last.current);
  const wanted = text.value.trim().toLowerCase();
  const isWanted = ({ label }: { label: string }) => label.toLowerCase().includes(wanted);
  // Screens are listed, so their keys are not; nor is the key of this dialog.
  // If two parts of the screen use the same key, the last one wins.
  const byKey = new Map(workingShortcuts().map((one) => [one.keys, one]));
  const acts = [...byKey.values()].filter((one) => !/^(g |Ctrl K)/.test(one.keys) && isWanted(one));
  const found: Found[] = [
    ...entries.filter(isWanted).map(({ path, label, icon }) => ({
      ...{ id: path, icon, title: label, detail: "Screen" },
      run: () => route(to(path)),
    })),
    ...(wanted === "" ? [] : last.current.map((chat) => asFound(chat, to(`inbox/${chat.id}`)))),
    ...acts.map(({ keys, label, run }) => ({
      id: `key-${keys}`,
      icon: "down" as const,
      title: label,
      detail: keys,
      run,
    })),
  ];
  const current = found[Math.min(at.value, found.length - 1)];

  const choose = (one: Found | undefined) => {
    if (!one) return;
    closeDialog();
    one.run();
  };

  return (
    <Dialog title="Find" atTop>
      <input
        role="combobox"
        aria-label="Find a screen, a contact or an action"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={current && `${id}-${current.id}`}
        placeholder="A screen, an action, a contact’s name or address"
        autocomplete="off"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") at.value = Math.min(at.value + 1, found.length - 1);
          else if (event.key === "ArrowUp") at.value = Math.max(at.value - 1, 0);
          else if (event.key === "Enter") choose(current);
          else return;
          event.preventDefault();
        }}
      />
      <div role="listbox" id={id} aria-label="Found">
        {found.map((one) => (
          <div
            key={one.id}
            id={`${id}-${one.id}`}
            class="item"
            role="option"
            tabIndex={-1}
            aria-selected={one === current}
            onClick={() => choose(one)}
            onKeyDown={(event) => event.key === "Enter" && choose(one)}
          >
            <Icon name={one.icon} />
            <span class="grow clip" dir="auto">
              {one.title}
            </span>
            <span class="quiet note">{one.detail}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && !chats.isLoading && (
        <p class="quiet">No matches. Find searches screens, actions and contacts, not messages.</p>
      )}
    </Dialog>
  );
}

function asFound(chat: Chat, href: string): Found {
  const run = () => follow(href);
  return { id: chat.id, icon: "person", title: contactName(chat), detail: chat.channel.name, run };
}
