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
  if (!search) return null;
  const { state, done, total } = search;
  const isOn = state !== "off";
  const turn = async (on: boolean) => {
    set((await api.PATCH("/organization", { body: { search: { on } } })).organization);
    say("Saved");
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
        checked={isOn}
        disabled={!mayTurnSearch()}
        onChange={({ currentTarget }) => {
          const undo = () => (currentTarget.checked = isOn);
          if (isOn) {
            undo();
            openDialog(turnOff);
          } else {
            turn(true).catch((error: unknown) => {
              undo();
              sayError(error);
            });
          }
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
