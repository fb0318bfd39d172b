import { useSignal } from "@preact/signals";
import { DEFAULT_PERMISSIONS, type Permission, PRESETS } from "../../../model/permission.ts";
import { plural } from "../format.ts";
import { usePlace } from "../organization.ts";
import { may } from "../session.ts";
import { Chips } from "./button.tsx";

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

/** The permissions of one thing, such as chats, side by side. */
const GROUPS = [...new Set(PERMISSIONS.map(thingOf))];

/** Permissions that are chosen at once, by their label. */
type Choices = Readonly<Record<string, readonly Permission[]>>;

export const OF_KEYS: Choices = {
  "Chats and messages": DEFAULT_PERMISSIONS,
  "Read only": PERMISSIONS.filter((one) => one.endsWith(":read")),
  Everything: PERMISSIONS,
};
export const OF_MEMBERS: Choices = { Agent: PRESETS.agent, Viewer: PRESETS.viewer, Manager: PRESETS.manager };

/** What a member may do, in a word or two: "Agent", or "3 permissions". */
export function roleOf(permissions: readonly Permission[]): string {
  return (
    Object.keys(OF_MEMBERS).find((name) => isSame(OF_MEMBERS[name] ?? [], permissions)) ??
    plural(permissions.length, "permission")
  );
}

function thingOf(permission: Permission): string {
  return permission.split(":")[0] ?? "";
}

function isSame(some: readonly Permission[], others: readonly Permission[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one));
}

/** The permissions that a person can give: those of that person. */
export function mayGive(permissions: readonly Permission[]): boolean {
  return permissions.every(may);
}

/**
 * Boxes for the permissions of a key or a member, named `permissions`. What the person can't give is not shown, unless it
 * is given already.
 */
export function PermissionPicker({ given, choices }: { given: readonly Permission[]; choices: Choices }) {
  const { selfService } = usePlace().organization;
  const chosen = useSignal<readonly Permission[]>(given);
  const shown = PERMISSIONS.filter((one) => may(one) || given.includes(one));
  const buttons = Object.entries(choices).map(([label, permissions]) => ({
    label,
    choose: () => (chosen.value = permissions.filter(may)),
    isChosen: isSame(permissions.filter(may), chosen.value),
  }));
  return (
    <fieldset class="picker">
      <legend>Permissions</legend>
      <Chips choices={buttons} />
      <div class="box">
        {GROUPS.map((thing) => (
          <div key={thing} class="picker-group">
            {shown
              .filter((one) => thingOf(one) === thing)
              .map((one) => (
                <label key={one} class="picker-item">
                  <input
                    type="checkbox"
                    name="permissions"
                    value={one}
                    disabled={!may(one)}
                    checked={chosen.value.includes(one)}
                    onChange={({ currentTarget: { checked } }) =>
                      (chosen.value = checked ? [...chosen.value, one] : chosen.value.filter((other) => other !== one))
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
      </div>
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
