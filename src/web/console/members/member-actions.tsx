import { type Permission, PRESETS } from "../../../model/permission.ts";
import type { Member } from "../api.ts";
import { usePlace } from "../organization.ts";
import { Button } from "../parts/button.tsx";
import { Confirm, FormDialog } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { Menu, MenuItem } from "../parts/menu.tsx";
import { openDialog } from "../parts/opened-dialog.tsx";
import { mayGive, OF_MEMBERS, PermissionPicker } from "../parts/permission-picker.tsx";
import { SecretDialog } from "../parts/secret.tsx";
import { Time } from "../parts/time.tsx";
import { say, sayError } from "../parts/toast.tsx";
import { may } from "../session.ts";

/** What can be done with a member. A person can't let others do more than that person may do. */
export function MemberActions({ member, onChange }: { member: Member; onChange: () => void }) {
  const { api } = usePlace();
  const { id, name, permissions } = member;
  const path = { id };
  const canGive = mayGive(permissions);
  const createLink = async () => {
    const { url, expiresAt } = await api.POST("/members/{id}/sign-in-link", { path });
    openDialog(
      <SecretDialog title={`Sign-in link for ${name}`} secret={url}>
        Whoever opens it first is signed in as {name}. It expires <Time at={expiresAt} future />.
      </SecretDialog>,
    );
  };
  const signOut = (
    <Confirm
      title={`Sign ${name} out everywhere?`}
      submit="Sign out"
      done="Signed out everywhere"
      onSubmit={() => api.DELETE("/members/{id}/sessions", { path })}
    >
      <p>All sessions end. Passkeys and an unused sign-in link stop working.</p>
    </Confirm>
  );
  const remove = (
    <Confirm
      title={`Delete ${name}?`}
      submit="Delete"
      done="Deleted"
      onSubmit={async () => {
        await api.DELETE("/members/{id}", { path });
        onChange();
      }}
    >
      <p>Their sessions end at once, and their chats are unassigned. Messages that they sent stay.</p>
    </Confirm>
  );
  return (
    <div class="line row-actions">
      {canGive && <Button onClick={() => void createLink().catch(sayError)}>Sign-in link</Button>}
      <Menu label={`More for ${name}`} button={<Icon name="more" />}>
        {canGive && <MenuItem opens={<MemberDialog member={member} onMember={onChange} />}>Change</MenuItem>}
        <MenuItem opens={signOut}>Sign out everywhere</MenuItem>
        <MenuItem danger opens={remove}>
          Delete
        </MenuItem>
      </Menu>
    </div>
  );
}

interface MemberDialogProps {
  /** Null: a new one. */
  member: Member | null;
  onMember: () => void;
}

export function MemberDialog({ member, onMember }: MemberDialogProps) {
  const { api } = usePlace();
  return (
    <FormDialog
      title={member ? "Change the member" : "New member"}
      submit={member ? "Save" : "Add"}
      wide
      onSubmit={async ({ text, optional, checked }) => {
        const body = {
          name: text("name"),
          publicName: optional("publicName"),
          email: optional("email"),
          permissions: checked("permissions") as Permission[],
        };
        if (member) await api.PATCH("/members/{id}", { path: { id: member.id }, body });
        else await api.POST("/members", { body });
        say(member ? "Saved" : "Added. Create a sign-in link for them next.");
        onMember();
      }}
    >
      <Input label="Name" name="name" required maxLength={256} defaultValue={member?.name} />
      <Input
        label="Name that contacts see"
        hint="Optional. By default, contacts see the name above."
        name="publicName"
        maxLength={80}
        defaultValue={member?.publicName ?? ""}
      />
      <Input
        label="Email"
        hint="Optional. For signing in with Cloudflare Access."
        name="email"
        type="email"
        defaultValue={member?.email ?? ""}
      />
      <PermissionPicker given={member?.permissions ?? PRESETS.agent.filter(may)} choices={OF_MEMBERS} />
    </FormDialog>
  );
}
