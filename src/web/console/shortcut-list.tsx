import { Checkbox } from "./parts/controls.tsx";
import { Dialog } from "./parts/dialog.tsx";
import { areKeysOn, type Shortcut, setKeys, workingShortcuts } from "./shortcuts.ts";

/** The keys that work on this screen. */
export function ShortcutList() {
  return (
    <Dialog title="Keyboard shortcuts">
      <Checkbox checked={areKeysOn.value} onChange={(event) => setKeys(event.currentTarget.checked)}>
        Single keys work outside of fields
      </Checkbox>
      <dl class="stack">
        {workingShortcuts()
          .toSorted(screensLast)
          .map(({ keys, label }) => (
            <div key={keys + label} class="between">
              <dt>{label}</dt>
              <dd class="line">
                {keys.split(" ").map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dd>
            </div>
          ))}
      </dl>
    </Dialog>
  );
}

/** The keys of the other screens are many, and are wanted least often. */
function screensLast(one: Shortcut, other: Shortcut): number {
  return Number(one.keys.startsWith("g ")) - Number(other.keys.startsWith("g "));
}
