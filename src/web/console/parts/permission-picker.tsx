import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { DEFAULT_PERMISSIONS, type Permission } from "../../../keys/permissions.ts";
import { may } from "../session.ts";
import { Chips } from "./chips.tsx";

/** What each permission lets a key or a member do. */
const WORDS: Record<Permission, string> = {
  "chats:read": "List and open chats",
  "chats:write": "Begin and change chats",
  "chats:erase": "Erase chats, redact messages",
  "messages:read": "Read messages and files",
  "messages:send": "Send, schedule, cancel",
  "events:read": "Follow all events",
  "webhooks:read": "See webhooks",
  "webhooks:write": "Manage webhooks",
  "keys:read": "See API keys",
  "keys:write": "Manage API keys",
  "channels:read": "See channels",
  "channels:write": "Manage channels",
  "templates:read": "See templates",
  "templates:write": "Manage templates",
  "members:read": "See members",
  "members:write": "Manage members",
  "stats:read": "See statistics",
  "audit:read": "See the audit log",
  "data:export": "Export everything",
};

const PERMISSIONS = Object.keys(WORDS) as Permission[];

const PRESETS = [
  { label: "Chats and messages", has: (one: Permission) => DEFAULT_PERMISSIONS.includes(one) },
  { label: "Read only", has: (one: Permission) => one.endsWith(":read") },
  { label: "Everything", has: () => true },
];

/** The permissions that a person can give: those of that person. */
export function mayGive(permissions: readonly Permission[]): boolean {
  return permissions.every(may);
}

/** Boxes for the permissions of a key or a member, named `permissions`. */
export function PermissionPicker({ given }: { given: readonly Permission[] }): JSX.Element {
  const chosen = useSignal<readonly Permission[]>(given);
  const choose = (wanted: (one: Permission) => boolean) => {
    chosen.value = PERMISSIONS.filter((one) => may(one) && wanted(one));
  };
  return (
    <fieldset class="picker">
      <legend>Permissions</legend>
      <Chips choices={PRESETS.map(({ label, has }) => ({ label, choose: () => choose(has) }))} />
      <div class="pair-even box">
        {PERMISSIONS.map((one) => (
          <label key={one} class="picker-item">
            <input
              type="checkbox"
              name="permissions"
              value={one}
              disabled={!may(one)}
              checked={chosen.value.includes(one)}
              onChange={({ currentTarget: { checked } }) => {
                chosen.value = checked ? [...chosen.value, one] : chosen.value.filter((other) => other !== one);
              }}
            />
            <span>
              {WORDS[one]}
              <br />
              <code class="quiet small">{one}</code>
            </span>
          </label>
        ))}
      </div>
      {chosen.value.includes("webhooks:write") && !chosen.value.includes("events:read") && (
        <p class="hint warn">
          <code>webhooks:write</code> does nothing without <code>events:read</code>.
        </p>
      )}
    </fieldset>
  );
}
