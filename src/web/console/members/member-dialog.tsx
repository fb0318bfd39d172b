import type { Permission } from "../../../keys/permissions.ts";
import { PRESETS } from "../../../keys/presets.ts";
import type { Member } from "../api.ts";
import { usePlace } from "../organization.ts";
import { FormDialog } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";
import { OF_MEMBERS, PermissionPicker } from "../parts/permission-picker.tsx";
import { say } from "../parts/toast.tsx";
import { may } from "../session.ts";

interface MemberDialogProps {
  /** Null: a new one. */
  member: Member | null;
  onMember: () => void;
}

/** Adds or changes a member. */
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
