import { type Signal, useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { DEFAULT_PERMISSIONS, type Permission, PRESETS } from "../../../model/permission.ts";
import { plural } from "../format.ts";
import { usePlace } from "../organization.ts";
import { may } from "../session.ts";

/** What each permission lets a key or a member do. */
const WORDS: Record<Permission, string> = {
  "chats:read": "List and open chats",
  "chats:write": "Start and change chats",
  "chats:erase": "Delete chats, redact messages",
  "messages:read": "Read messages and files",
  "messages:send": "Send, schedule, cancel",
  "notes:read": "Read notes",
  "notes:write": "Write notes",
  "events:read": "Follow all events",
  "webhooks:read": "See webhooks",
  "webhooks:write": "Manage webhooks",
  "keys:read": "See API keys",
  "keys:write": "Manage API keys",
  "channels:read": "See channels",
  "channels:write": "Manage channels",
  "templates:read": "See templates",
  "templates:write": "Manage templates",
  "replies:write": "Write saved replies",
  "labels:write": "Manage labels",
  "members:read": "See members",
  "members:write": "Manage members",
  "stats:read": "See statistics",
  "audit:read": "See the audit log",
  "data:export": "Export everything",
};

const PERMISSIONS = Object.keys(WORDS) as Permission[];

type Thing = Permission extends `${infer Name}:${string}` ? Name : never;

/** What the permissions of each thing are for. */
const PURPOSES: Record<Thing, string> = {
  chats: "Conversations",
  messages: "Conversations",
  notes: "Conversations",
  templates: "Templates, saved replies and labels",
  replies: "Templates, saved replies and labels",
  labels: "Templates, saved replies and labels",
  channels: "Channels and members",
  members: "Channels and members",
  events: "Programs",
  webhooks: "Programs",
  keys: "Programs",
  stats: "Records",
  audit: "Records",
  data: "Records",
};
const THINGS = Object.keys(PURPOSES) as Thing[];

/** Permissions that are chosen at once, by their label, and what they let one do in a line. */
type Choices = Readonly<Record<string, { line: string; permissions: readonly Permission[] }>>;

export const OF_KEYS: Choices = {
  "Chats and messages": {
    line: "Starts and changes chats, reads and sends messages.",
    permissions: DEFAULT_PERMISSIONS,
  },
  "Read only": {
    line: "Reads everything, also the audit log, and changes nothing.",
    permissions: PERMISSIONS.filter((one) => one.endsWith(":read")),
  },
  Everything: { line: "Has all permissions, also those that manage keys and members.", permissions: PERMISSIONS },
};
export const OF_MEMBERS: Choices = {
  Agent: { line: "Answers contacts, and writes notes, saved replies and labels.", permissions: PRESETS.agent },
  Viewer: { line: "Reads chats, messages and notes, and changes nothing.", permissions: PRESETS.viewer },
  Manager: {
    line: "Has all permissions, also those that manage channels, keys and members.",
    permissions: PRESETS.manager,
  },
};
const CUSTOM = "Custom";

/** What a member may do, in a word or two: "Agent", or "3 permissions". */
export function roleOf(permissions: readonly Permission[]): string {
  return presetOf(OF_MEMBERS, permissions) ?? plural(permissions.length, "permission");
}

function presetOf(choices: Choices, permissions: readonly Permission[]): string | undefined {
  return Object.keys(choices).find((name) => isSame(choices[name]?.permissions ?? [], permissions));
}

function isSame(some: readonly Permission[], others: readonly Permission[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one));
}

/** The permissions that a person can give: those of that person. */
export function mayGive(permissions: readonly Permission[]): boolean {
  return permissions.every(may);
}

interface PickerProps {
  given: readonly Permission[];
  choices: Choices;
}

/**
 * The permissions of a key or a member, named `permissions`: a preset, or single ones. A preset that the person can't give
 * is not shown.
 */
export function PermissionPicker({ given, choices }: PickerProps) {
  const { selfService } = usePlace().organization;
  const id = useId();
  const chosen = useSignal(given);
  const preset = useSignal(presetOf(choices, given) ?? CUSTOM);
  const custom = { line: "You choose each permission.", permissions: chosen.value };
  const shown = Object.entries(choices).filter(([, { permissions }]) => mayGive(permissions));
  return (
    <fieldset class="picker">
      <legend>Permissions</legend>
      <div>
        {[...shown, [CUSTOM, custom] as const].map(([name, { line, permissions }], n) => (
          <label key={name} class="picker-item">
            <input
              type="radio"
              name={id}
              checked={preset.value === name}
              aria-labelledby={`${id}-${n}`}
              aria-describedby={`${id}-${n}-line`}
              onChange={() => {
                preset.value = name;
                chosen.value = permissions;
              }}
            />
            <span>
              <strong id={`${id}-${n}`}>{name}</strong>
              <br />
              <span id={`${id}-${n}-line`} class="quiet">
                {line}
              </span>
            </span>
          </label>
        ))}
      </div>
      {preset.value === CUSTOM ? (
        <Boxes given={given} chosen={chosen} />
      ) : (
        chosen.value.map((one) => <input key={one} type="hidden" name="permissions" value={one} />)
      )}
      {chosen.value.includes("webhooks:write") && !chosen.value.includes("events:read") && (
        <p class="hint warn">
          <code>webhooks:write</code> does nothing without <code>events:read</code>.
        </p>
      )}
      {chosen.value.includes("keys:write") && selfService === null && (
        <p class="hint warn">
          <code>keys:write</code> can only revoke keys while self-service for keys is off. The operator turns it on
          under Settings.
        </p>
      )}
    </fieldset>
  );
}

/** A box for each permission, in a row for each thing. What the person can't give is not shown, unless it is given already. */
function Boxes({ given, chosen }: { given: readonly Permission[]; chosen: Signal<readonly Permission[]> }) {
  const shown = PERMISSIONS.filter((one) => may(one) || given.includes(one));
  const rowsOf = (purpose: string) =>
    THINGS.filter((thing) => PURPOSES[thing] === purpose)
      .map((thing) => shown.filter((one) => one.startsWith(`${thing}:`)))
      .filter((row) => row.length > 0);
  return (
    <div class="box">
      {[...new Set(Object.values(PURPOSES))].map((purpose) => {
        const rows = rowsOf(purpose);
        if (rows.length === 0) return null;
        return (
          <fieldset key={purpose}>
            <legend>{purpose}</legend>
            {rows.map((row) => (
              <div key={row[0]} class="picker-row">
                {row.map((one) => (
                  <label key={one} class="picker-item">
                    <input
                      type="checkbox"
                      name="permissions"
                      value={one}
                      disabled={!may(one)}
                      checked={chosen.value.includes(one)}
                      onChange={({ currentTarget: { checked } }) =>
                        (chosen.value = PERMISSIONS.filter((each) =>
                          each === one ? checked : chosen.value.includes(each),
                        ))
                      }
                    />
                    <span>
                      {WORDS[one]}
                      <br />
                      <code class="quiet small">{one}</code>
                    </span>
                  </label>
                ))}
              </div>
            ))}
          </fieldset>
        );
      })}
    </div>
  );
}
