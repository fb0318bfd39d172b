import type { JSX } from "preact";
import { DEFAULT_PERMISSIONS, type Permission } from "../../../keys/permissions.ts";
import type { Member } from "../api.ts";
import { usePlace } from "../organization.ts";
import { Dialog, Field, Form } from "../parts/dialog.tsx";
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
        <Field label="Name">
          {(id) => (
            <input id={id} name="name" required maxLength={256} autocomplete="off" defaultValue={member?.name} />
          )}
        </Field>
        <Field label="Email" hint="Optional. With Cloudflare Access, it is how they sign in.">
          {(id) => <input id={id} name="email" type="email" autocomplete="off" defaultValue={member?.email ?? ""} />}
        </Field>
        <PermissionPicker given={member?.permissions ?? DEFAULT_PERMISSIONS.filter(may)} />
      </Form>
    </Dialog>
  );
}
