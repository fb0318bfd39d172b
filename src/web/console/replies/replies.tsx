import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { ScreenParts } from "../location.ts";
import { usePlace } from "../organization.ts";
import { Icon } from "../parts/icon.tsx";
import { ListScreen, RowMain } from "../parts/list-screen.tsx";
import { Time } from "../parts/time.tsx";
import { may } from "../session.ts";
import { useShortcuts } from "../shortcuts.ts";
import { replyFinder } from "./found-replies.ts";
import { NEW_REPLY, ReplyScreen } from "./reply-screen.tsx";
import { useReplies } from "./use-replies.ts";

const PAGE = 100;

export function Replies({ id }: ScreenParts) {
  return id ? <ReplyScreen key={id} id={id} /> : <ReplyList />;
}

function ReplyList() {
  const { to } = usePlace();
  const words = useSignal("");
  const most = useSignal(PAGE);
  const { data, error, reload } = useReplies();
  const find = useMemo(() => replyFinder(data ?? []), [data]);
  const found = find(words.value);
  useShortcuts([
    { keys: "/", label: "Search the replies", run: () => document.getElementById("reply-search")?.focus() },
  ]);
  return (
    <ListScreen
      title="Replies"
      intro="Texts that your team sends often. Press / in an empty message to put one in."
      icon="reply"
      pages={{
        rows: { data: data && found.slice(0, most.value), error, reload },
        hasMore: found.length > most.value,
        isLoadingMore: false,
        more: () => (most.value += PAGE),
      }}
      create={may("replies:write") ? { label: "New reply", opens: to(`replies/${NEW_REPLY}`) } : null}
      empty={
        data?.length === 0
          ? {
              title: "No reply yet",
              text: "A reply is filled in with the contact’s name, and can be changed before it is sent.",
              command: 'npx parley replies create --name "Thanks" --content "Thank you, {{contact.name|and bye}}"',
            }
          : { title: "No reply has these words", text: "The search reads names, shortcuts and texts." }
      }
      notice={
        data !== undefined &&
        data.length > 0 && (
          <label class="search">
            <span class="hidden">Find a reply</span>
            <Icon name="search" />
            <input
              id="reply-search"
              type="search"
              placeholder="Shortcut, name or words"
              autocomplete="off"
              value={words.value}
              onInput={(event) => {
                words.value = event.currentTarget.value;
                most.value = PAGE;
              }}
            />
          </label>
        )
      }
    >
      {({ id, name, shortcut, content, updatedAt }) => (
        <li key={id} class="row">
          <RowMain
            name={name}
            href={to(`replies/${id}`)}
            mark={
              shortcut !== null && (
                <kbd>
                  <bdi>{shortcut}</bdi>
                </kbd>
              )
            }
          >
            <p class="row-detail clip" dir="auto">
              {content}
            </p>
          </RowMain>
          <p class="row-aside">
            <span class="quiet">
              Changed <Time at={updatedAt} long />
            </span>
          </p>
        </li>
      )}
    </ListScreen>
  );
}
