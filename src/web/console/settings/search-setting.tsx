import { useSignal } from "@preact/signals";
import { number } from "../format.ts";
import { usePlace } from "../organization.ts";
import { Checkbox } from "../parts/controls.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Meter } from "../parts/meter.tsx";
import { openDialog } from "../parts/opened-dialog.tsx";
import { say, sayError } from "../parts/toast.tsx";
import { mayTurnSearch, useSearchState } from "../search-state.ts";

/** Turns the search over all messages on and off, and shows how far it is. */
export function SearchSetting() {
  const { set, api } = usePlace();
  const search = useSearchState();
  const isTurningOn = useSignal(false);
  if (!search) return null;
  const { state, done, total } = search;
  const isOn = state !== "off";
  const turn = async (on: boolean) => {
    isTurningOn.value = on;
    try {
      set((await api.PATCH("/organization", { body: { search: { on } } })).organization);
      say("Saved");
    } finally {
      isTurningOn.value = false;
    }
  };
  const turnOff = (
    <Confirm title="Turn the search in messages off?" submit="Turn off" onSubmit={() => turn(false)}>
      <p>Its index is deleted. Turning it on again prepares all messages once more, at most once in 24 hours.</p>
    </Confirm>
  );
  return (
    <section class="section">
      <h2>Search</h2>
      <Checkbox
        checked={isOn || isTurningOn.value}
        disabled={!mayTurnSearch()}
        onChange={({ currentTarget }) => {
          if (!isOn) return void turn(true).catch(sayError);
          // Until the person has confirmed it.
          currentTarget.checked = true;
          openDialog(turnOff);
        }}
      >
        Find messages of all chats
      </Checkbox>
      {state === "filling" && (
        <>
          <Meter label={`${number(done)} of ${number(total)} chats`} value={done} max={total} tone="good" />
          <p class="hint" role="status">
            {number(done)} of {number(total)} chats can be searched. New messages are found already.
          </p>
        </>
      )}
      <p class="hint">
        The search of the inbox finds messages too. Notes are not searched.
        {!mayTurnSearch() && " To change it, you need the permissions channels:write and messages:read."}
      </p>
    </section>
  );
}
