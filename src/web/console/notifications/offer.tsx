import { useSignal } from "@preact/signals";
import { LazyDialog } from "../lazy.tsx";
import { TextButton } from "../parts/button.tsx";
import { may } from "../session.ts";
import { FIRST_CHOICE, permission, readChoice, saveChoice } from "./choice.ts";

/** The dialog in which the person chooses notifications. */
export const notifications = <LazyDialog>{({ NotificationsDialog }) => <NotificationsDialog />}</LazyDialog>;

/**
 * Offers notifications until the person has chosen. It is drawn with the screen below it: what comes later would move the
 * screen under somebody's pointer.
 */
export function Offer() {
  const isOffered = useSignal(may("events:read") && !readChoice());
  return (
    isOffered.value &&
    permission.value === "prompt" && (
      <p class="banner tone-quiet">
        Parley can notify you about new messages. <TextButton opens={notifications}>Notifications</TextButton>{" "}
        <TextButton
          onClick={() => {
            saveChoice(FIRST_CHOICE);
            isOffered.value = false;
          }}
        >
          Not now
        </TextButton>
      </p>
    )
  );
}
