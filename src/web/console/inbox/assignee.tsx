import { canTakeChats } from "../../../model/permission.ts";
import type { Member } from "../api.ts";
import { byName } from "../organization.ts";
import { Avatar } from "../parts/badge.tsx";
import { Icon } from "../parts/icon.tsx";
import { Menu, MenuItem } from "../parts/menu.tsx";
import { currentSession } from "../session.ts";

interface AssigneeProps {
  /** The chat's assignee; null for nobody. */
  id: string | null;
  members: readonly Pick<Member, "id" | "name" | "permissions">[];
  /** Null if the person may not assign it. */
  onAssign: ((memberId: string | null) => void) | null;
}

/** A member's name. The page may not know a new one, and knows only the person if the person may not see members. */
export function memberName(id: string, members: readonly Pick<Member, "id" | "name">[]): string {
  return members.find((one) => one.id === id)?.name ?? "A colleague";
}

/** Whose the chat is now, as a sentence. @param name null for nobody */
export function assignedText(name: string | null): string {
  return name === null ? "Unassigned" : `Assigned to ${name}`;
}

/** Whose chat it is, and a menu that gives it to somebody else. */
export function Assignee({ id, members, onAssign }: AssigneeProps) {
  const { member } = currentSession();
  const name = id === null ? null : memberName(id, members);
  const shown = (
    <>
      {name === null ? <Icon name="person" /> : <Avatar name={name} />}
      <span class="clip wide-only" dir="auto">
        {name ?? (onAssign ? "Assign" : "Nobody’s")}
      </span>
    </>
  );
  if (!onAssign) return <span class="line note">{shown}</span>;
  const label =
    name === null ? `Nobody’s. Assign this chat${member ? " (a)" : ""}` : `Assigned to ${name}. Change that`;
  return (
    <Menu label={label} button={shown} buttonClass="button assignee">
      {byName(members)
        .filter((one) => one.id !== id && canTakeChats(one.permissions))
        .map((one) => (
          <MenuItem key={one.id} onChoose={() => onAssign(one.id)}>
            <bdi>{one.name}</bdi>
            {one.id === member?.id && " (you)"}
          </MenuItem>
        ))}
      {id !== null && <MenuItem onChoose={() => onAssign(null)}>Nobody</MenuItem>}
    </Menu>
  );
}
