import type { JSX } from "preact";
import { DEFAULT_PERMISSIONS, type Permission } from "../../../keys/permissions.ts";
import type { Member } from "../api.ts";
import { usePlace } from "../organization.ts";
import { Dialog, Form } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";
import { PermissionPicker } from "../parts/permission-picker.tsx";
import { say } from "../parts/toast.tsx";
import { may } from "../session.ts";

interface MemberDialogProps {
  /** Null: a new one. */
  member: Member | null;
  onClose: () => void;
  onMember: () => void;
}

/** Adds or changes a member. */
export function MemberDialog({ member, onClose, onMember }: MemberDialogProps): JSX.Element {
  const { api } = usePlace();
  return (
    <Dialog title={member ? "Change the member" : "New member"} onClose={onClose} wide>
      <Form
        submit={member ? "Save" : "Add"}
        onCancel={onClose}
        onSubmit={async ({ text, checked }) => {
          const email = text("email").trim();
          const body = {
            name: text("name"),
            email: email === "" ? null : email,
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
          hint="Optional. With Cloudflare Access, it is how they sign in."
          name="email"
          type="email"
          defaultValue={member?.email ?? ""}
        />
        <PermissionPicker given={member?.permissions ?? DEFAULT_PERMISSIONS.filter(may)} />
      </Form>
    </Dialog>
  );
}
