import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import type { Member } from "../api.ts";
import { usePlace } from "../organization.ts";
import type { Sending } from "./sending.ts";

interface SenderChoiceProps {
  sending: Sending;
  members: readonly Member[];
  /** Whether `members` is empty only because they are not here yet. */
  isLoading: boolean;
}

/** The operator's choice of the member in whose name they write. */
export function SenderChoice({ sending, members, isLoading }: SenderChoiceProps) {
  const stored = `parley.sender.${usePlace().organization.id}`;
  const chosen = useSignal(localStorage.getItem(stored));
  const sender = members.find(({ id }) => id === chosen.value) ?? members[0];
  const { id: senderId = null } = sender ?? {};
  useLayoutEffect(() => {
    if (!isLoading) sending.sendsAs(senderId);
  }, [sending, isLoading, senderId]);
  return (
    <label class="line quiet note">
      as{" "}
      <select
        value={senderId ?? ""}
        onChange={({ currentTarget: { value } }) => {
          chosen.value = value;
          localStorage.setItem(stored, value);
        }}
      >
        {members.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
