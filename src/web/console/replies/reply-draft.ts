import { useSignal } from "@preact/signals";
import { inTab } from "../in-tab.ts";
import type { Reply } from "./found-replies.ts";

/** What a person writes of a reply. Without a shortcut, it is empty. */
export type ReplyFields = Record<"name" | "shortcut" | "content", string>;

export const NO_FIELDS: ReplyFields = { name: "", shortcut: "", content: "" };

interface Draft {
  /** What was stored when the person began. */
  before: ReplyFields;
  now: ReplyFields;
}

/** The replies that are being written. */
const drafts = inTab<Draft>("parley.reply.");

const NAMES = ["name", "shortcut", "content"] as const;

export function fieldsOf({ name, shortcut, content }: Reply): ReplyFields {
  return { name, shortcut: shortcut ?? "", content };
}

/** The fields that a person changed. */
export function changedIn({ before, now }: Draft): Partial<ReplyFields> {
  return Object.fromEntries(NAMES.flatMap((name) => (now[name] === before[name] ? [] : [[name, now[name]]])));
}

/** The fields that the person changed and somebody else changed too, to something else. */
export function overwritten({ before, now }: Draft, stored: ReplyFields): (keyof ReplyFields)[] {
  return NAMES.filter((name) => now[name] !== before[name] && ![before[name], now[name]].includes(stored[name]));
}

/**
 * What a person changes of a reply. It stays in the tab until it is saved or discarded. Fields that the person left alone
 * follow what is stored.
 */
export function useReplyDraft(of: string, stored: ReplyFields) {
  const kept = useSignal(drafts.read(of));
  const keep = (draft: Draft | null) => {
    kept.value = draft;
    drafts.save(of, draft);
  };
  const changed = kept.value ? changedIn(kept.value) : {};
  const shown = { ...stored, ...changed };
  return {
    shown,
    changed,
    /** Whether something waits to be saved. */
    hasChanges: Object.keys(changed).length > 0,
    set: (change: Partial<ReplyFields>) => {
      const draft = { before: kept.peek()?.before ?? stored, now: { ...shown, ...change } };
      keep(Object.keys(changedIn(draft)).length > 0 ? draft : null);
    },
    discard: () => keep(null),
    /** Whether saving takes back what somebody else stored meanwhile. It is asked once: from now on the person knows. */
    takesBack: (newest: ReplyFields): boolean => {
      const draft = kept.peek();
      if (!draft || overwritten(draft, newest).length === 0) return false;
      keep({ before: newest, now: { ...newest, ...changedIn(draft) } });
      return true;
    },
  };
}
