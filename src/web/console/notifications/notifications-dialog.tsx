import { useSignal } from "@preact/signals";
import { MainButton } from "../parts/button.tsx";
import { Checkbox, Select } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { chime } from "./chime.ts";
import { askPermission, type Choice, FIRST_CHOICE, permission, readChoice, saveChoice } from "./choice.ts";

const CHOICES: Record<Choice["of"], string> = {
  all: "All chats",
  mine: "My chats and nobody’s",
  mentions: "Mentions, and chats I’m given",
  none: "Nothing",
};

/** Asks which notifications the person wants, and how. */
export function NotificationsDialog() {
  const choice = useSignal(readChoice() ?? FIRST_CHOICE);
  const { of, hasSound } = choice.value;
  const change = (part: Partial<Choice>) => {
    choice.value = { ...choice.value, ...part };
    saveChoice(choice.value);
    if (part.hasSound) chime();
  };
  return (
    <Dialog title="Notifications">
      <Select
        label="Tell me about"
        hint="The number in the tab’s title counts the same chats. Kept in this browser."
        options={CHOICES}
        first={of}
        onChange={(event) => change({ of: event.currentTarget.value as Choice["of"] })}
      />
      <Checkbox checked={hasSound} onChange={(event) => change({ hasSound: event.currentTarget.checked })}>
        Play a sound
      </Checkbox>
      {permission.value === "granted" ? (
        <p class="notice tone-good">Notifications are on in this browser.</p>
      ) : permission.value === "denied" ? (
        <p class="notice tone-warn">
          Your browser blocks notifications from Parley. To allow them, open the settings beside the page’s address.
        </p>
      ) : (
        <MainButton onClick={() => void askPermission()}>Turn on notifications</MainButton>
      )}
    </Dialog>
  );
}
