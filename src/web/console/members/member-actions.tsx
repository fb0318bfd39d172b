import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Member } from "../api.ts";
import { usePlace } from "../organization.ts";
import { Confirm } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { Menu, MenuItem } from "../parts/menu.tsx";
import { mayGive } from "../parts/permission-picker.tsx";
import { SecretDialog } from "../parts/secret.tsx";
import { Time } from "../parts/time.tsx";
import { say, sayError } from "../parts/toast.tsx";
import { MemberDialog } from "./member-dialog.tsx";

interface ActionsProps {
  member: Member;
  onChange: () => void;
}

/** What can be done with a member. A person can't let others do more than that person may do. */
export function MemberActions({ member, onChange }: ActionsProps): JSX.Element {
  const { api } = usePlace();
  const { id, name, permissions } = member;
  const open = useSignal<"change" | "sign-out" | "remove" | null>(null);
  const link = useSignal<{ url: string; expiresAt: string } | null>(null);
  const path = { id };
  const canGive = mayGive(permissions);
  const close = () => (open.value = null);
  const createLink = async () => {
    try {
      link.value = await api.POST("/members/{id}/sign-in-link", { path });
    } catch (error) {
      sayError(error);
    }
  };
  return (
    <div class="row-actions">
      {canGive && (
        <button type="button" class="button" onClick={() => void createLink()}>
          Sign-in link
        </button>
      )}
      <Menu label={`More for ${name}`} button={<Icon name="more" />}>
        {canGive && <MenuItem onChoose={() => (open.value = "change")}>Change</MenuItem>}
        <MenuItem onChoose={() => (open.value = "sign-out")}>Sign out everywhere</MenuItem>
        <MenuItem danger onChoose={() => (open.value = "remove")}>
          Remove
        </MenuItem>
      </Menu>
      {open.value === "change" && (
        <MemberDialog
          member={member}
          onClose={close}
          onMember={() => {
            close();
            onChange();
          }}
        />
      )}
      {open.value === "sign-out" && (
        <Confirm
          title={`Sign ${name} out everywhere?`}
          submit="Sign out"
          onClose={close}
          onConfirm={async () => {
            await api.DELETE("/members/{id}/sessions", { path });
            say("Signed out everywhere");
          }}
        >
          <p>All sessions end, and a sign-in link that was not used stops working.</p>
        </Confirm>
      )}
      {open.value === "remove" && (
        <Confirm
          title={`Remove ${name}?`}
          submit="Remove"
          onClose={close}
          onConfirm={async () => {
            await api.DELETE("/members/{id}", { path });
            say("The member was removed");
            onChange();
          }}
        >
          <p>Their sessions end at once. Messages that they sent stay.</p>
        </Confirm>
      )}
      {link.value && (
        <SecretDialog title={`Sign-in link for ${name}`} secret={link.value.url} onClose={() => (link.value = null)}>
          <p>
            Whoever opens it first is signed in as {name}. It works once, and ends{" "}
            <Time at={link.value.expiresAt} future />. Pass it on where nobody else reads it.
          </p>
        </SecretDialog>
      )}
    </div>
  );
}
