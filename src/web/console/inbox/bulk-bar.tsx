import { useSignal } from "@preact/signals";
import { type Chat, ParleyError, type Schemas, textOf } from "../api.ts";
import { plural } from "../format.ts";
import { LabelDot } from "../labels/label-marks.tsx";
import { LabelDialog } from "../labels/label-settings.tsx";
import { type Label, labelsChanged } from "../labels/use-labels.ts";
import { contactName } from "../names.ts";
import { usePlace } from "../organization.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Menu, MenuItem } from "../parts/menu.tsx";
import { openDialog } from "../parts/opened-dialog.tsx";
import { sayFailure, sayUndoable } from "../parts/toast.tsx";
import { may } from "../session.ts";
import { useShortcuts } from "../shortcuts.ts";
import { NOBODY } from "./chat-rows.ts";
import { handOver } from "./conversation-work.ts";
import { restoreWork } from "./restore-work.ts";
import { SnoozeDialog } from "./snooze-dialog.tsx";

/** How many chats are changed at the same time. */
const AT_ONCE = 4;

interface BulkBarProps {
  /** The chats as they were when the person selected them. */
  chats: readonly Chat[];
  /** To whom they can be given. */
  whose: readonly { id: string; name: string }[];
  labels: readonly Label[];
  onChat: (chat: Chat) => void;
  /** @param left the chats that could not be changed */
  onDone: (left: readonly Chat[]) => void;
}

/** What is done with the selected chats. A chat that has moved on since it was selected is left as it is. */
export function BulkBar({ chats, whose, labels, onChat, onDone }: BulkBarProps) {
  const { api } = usePlace();
  const take = async (call: Promise<{ chat: Chat }>) => {
    const { chat } = await call;
    onChat(chat);
    return chat;
  };
  const patch = ({ id }: Chat, body: Schemas["ChatPatch"]) => take(api.PATCH("/chats/{id}", { path: { id }, body }));

  /** @throws ParleyError if the change itself is wrong */
  const act = async (
    done: string,
    change: (chat: Chat) => Promise<unknown>,
    undo: (before: Chat) => Promise<unknown>,
  ) => {
    const failures = await each(chats, change);
    const [first] = failures.values();
    if (first instanceof ParleyError && first.code === "validation_failed") throw first;
    const changed = chats.filter((chat) => !failures.has(chat));
    if (changed.length > 0) {
      sayUndoable(`${plural(changed.length, "chat")} ${done}`, async () => {
        const [failure] = await each(changed, undo);
        if (failure) throw failure[1];
      });
    }
    if (failures.size > 0) sayFailure(failureOf(failures));
    onDone([...failures.keys()]);
  };
  const undoWork = async (before: Chat) => {
    const { id } = before;
    let chat = (await api.GET("/chats/{id}", { path: { id } })).chat;
    const took = async (call: Promise<{ chat: Chat }>) => void (chat = await take(call));
    await restoreWork(before, {
      now: () => chat,
      markAnswered: () => took(api.POST("/chats/{id}/answered", { path: { id }, body: seen(chat) })),
      markUnanswered: () => took(api.DELETE("/chats/{id}/answered", { path: { id } })),
      setState: (state, snoozedUntil) =>
        took(api.PATCH("/chats/{id}", { path: { id }, body: { state, snoozedUntil, ...seen(chat) } })),
      handOver: (to) => took(handOver(api, id, to)),
    });
  };
  const answer = () =>
    act(
      "marked as answered",
      (chat) => take(api.POST("/chats/{id}/answered", { path: { id: chat.id }, body: seen(chat) })),
      undoWork,
    );
  const close = () => act("closed", (chat) => patch(chat, { state: "closed", ...seen(chat) }), undoWork);
  const reopen = () =>
    act("reopened", (chat) => patch(chat, { state: "open", snoozedUntil: null, ...seen(chat) }), undoWork);
  const snooze = (snoozedUntil: string) =>
    act("snoozed", (chat) => patch(chat, { state: "snoozed", snoozedUntil, ...seen(chat) }), undoWork);
  const assign = (assigneeId: string | null) =>
    act(
      assigneeId === null ? "unassigned" : "assigned",
      (chat) => patch(chat, { assigneeId, ifAssigneeId: chat.assigneeId }),
      (before) => patch(before, { assigneeId: before.assigneeId, ifAssigneeId: assigneeId }),
    );
  const label = ({ id: labelId, name }: Label) => {
    const route = "/chats/{id}/labels/{labelId}";
    return act(
      `labeled “${name}”`,
      ({ id }) => take(api.PUT(route, { path: { id, labelId } })),
      async ({ id, labels: before }) =>
        before.some((one) => one.id === labelId) || take(api.DELETE(route, { path: { id, labelId } })),
    );
  };
  const create = (
    <LabelDialog
      label={null}
      onSave={async (body) => {
        const made = await api.POST("/labels", { body });
        labelsChanged();
        await label(made.label);
      }}
    />
  );
  const attempt = (work: Promise<void>) => void work.catch((error: unknown) => sayFailure(textOf(error)));
  const askUntil = <SnoozeDialog onSnooze={snooze} />;
  const isAssigning = useSignal(false);
  const isLabeling = useSignal(false);
  const mayLabel = labels.length > 0 || may("labels:write");
  const keys: Record<string, [label: string, run: () => void]> = {
    e: ["Mark the selected chats as answered", () => attempt(answer())],
    c: ["Close the selected chats", () => attempt(close())],
    o: ["Reopen the selected chats", () => attempt(reopen())],
    s: ["Snooze the selected chats", () => openDialog(askUntil)],
    a: ["Assign the selected chats", () => (isAssigning.value = true)],
    // The labels may come later.
    l: ["Label the selected chats", () => (isLabeling.value = mayLabel)],
  };
  useShortcuts(Object.entries(keys).map(([key, [label, run]]) => ({ keys: key, label, run, isOnly: true })));
  return (
    <section class="bulk" aria-label="Selected chats">
      <div class="between">
        <strong role="status">{chats.length} selected</strong>
        <Button icon="close" aria-label="Select none" title="Select none" onClick={() => onDone([])} />
      </div>
      <div class="line">
        {chats.some(({ state }) => state !== "closed") && (
          <Button onClick={() => attempt(close())} title="Close (c)">
            <Icon name="done" /> Close
          </Button>
        )}
        {chats.some(({ state }) => state !== "open") && (
          <Button onClick={() => attempt(reopen())} title="Reopen (o)">
            <Icon name="inbox" /> Reopen
          </Button>
        )}
        <Button
          icon="check"
          aria-label="Mark the selected chats as answered"
          title="Mark as answered (e)"
          onClick={() => attempt(answer())}
        />
        <Button icon="clock" aria-label="Snooze the selected chats" title="Snooze (s)" opens={askUntil} />
        <Menu up label="Assign the selected chats" isOpen={isAssigning} button={<Icon name="person" />}>
          {whose.map(({ id, name }) => (
            <MenuItem key={id} onChoose={() => attempt(assign(id === NOBODY ? null : id))}>
              <bdi>{name}</bdi>
            </MenuItem>
          ))}
        </Menu>
        {mayLabel && (
          <Menu up label="Label the selected chats" isOpen={isLabeling} button={<Icon name="label" />}>
            {labels.map((one) => (
              <MenuItem key={one.id} onChoose={() => attempt(label(one))}>
                <LabelDot color={one.color} /> <bdi>{one.name}</bdi>
              </MenuItem>
            ))}
            {may("labels:write") && <MenuItem opens={create}>New label…</MenuItem>}
          </Menu>
        )}
      </div>
    </section>
  );
}

/** A change is refused if the chat has newer messages than its row showed. Who may not read messages has no row with one. */
function seen({ lastMessage }: Chat): { ifSeq?: number } {
  return may("messages:read") ? { ifSeq: lastMessage?.seq ?? 0 } : {};
}

/** Does a work for each chat. @returns why it failed, by the chat */
async function each(chats: readonly Chat[], work: (chat: Chat) => Promise<unknown>): Promise<Map<Chat, unknown>> {
  const failures = new Map<Chat, unknown>();
  const waiting = [...chats];
  const worker = async () => {
    for (let chat = waiting.shift(); chat; chat = waiting.shift()) {
      const own = chat;
      await work(own).catch((error: unknown) => failures.set(own, error));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return failures;
}

function failureOf(failures: ReadonlyMap<Chat, unknown>): string {
  const [[chat, error] = []] = failures;
  const reason =
    error instanceof ParleyError && error.code === "chat_moved_on" ? "There are newer messages." : textOf(error);
  const others = failures.size > 1 ? ` and ${failures.size - 1} more` : "";
  return `${chat && contactName(chat)}${others}: ${reason}`;
}
