import { call, type Member, type Organization, type Schemas } from "../api.ts";
import { route } from "../location.ts";
import { addressIn } from "../organization.ts";
import { usePages } from "../pages.ts";
import { Avatar } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Select } from "../parts/controls.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";
import { ListScreen, RowMain } from "../parts/list-screen.tsx";
import { OpenedDialog } from "../parts/opened-dialog.tsx";
import { Time } from "../parts/time.tsx";
import { sayError } from "../parts/toast.tsx";
import { signOut } from "../session.ts";

type OrganizationsPage = { organizations: Organization[]; pagination: Schemas["Pagination"] };

/** The organizations of the service, for the operator. */
export function Organizations() {
  const list = usePages("list organizations", "page", async (query, signal) => {
    const search = new URLSearchParams({ page: "1", ...query } as object as Record<string, string>);
    const answer = await call<OrganizationsPage>("GET", `/organizations?${search}`, undefined, signal);
    return { rows: answer.organizations, pagination: answer.pagination };
  });
  return (
    <>
      <ListScreen
        title="Organizations"
        intro="Each customer of the service is an organization."
        icon="members"
        pages={list}
        create={{ label: "New organization", opens: <NewOrganization /> }}
        actions={<Button onClick={() => void signOut().catch(sayError)}>Sign out</Button>}
        empty={{
          title: "No organization yet",
          text: "Create one for your company.",
          command: "npx parley organizations create",
        }}
      >
        {({ id, name, jurisdiction, createdAt }) => (
          <li key={id} class="row">
            <Avatar name={name} />
            <RowMain name={name} href={addressIn(id, "inbox")}>
              <p class="row-detail">
                {jurisdiction ? `${jurisdiction.toUpperCase()} · ` : ""}created <Time at={createdAt} long />
              </p>
            </RowMain>
          </li>
        )}
      </ListScreen>
      <OpenedDialog />
    </>
  );
}

function NewOrganization() {
  return (
    <FormDialog
      title="New organization"
      submit="Create"
      onSubmit={async ({ text }) => {
        const jurisdiction = text("jurisdiction");
        const { organization } = await call<{ organization: Organization; member: Member }>("POST", "/organizations", {
          name: text("name"),
          owner: { name: text("owner") },
          ...(jurisdiction !== "" && { jurisdiction }),
        });
        route(addressIn(organization.id, "inbox"));
      }}
    >
      <Input label="Name" name="name" required maxLength={100} autocomplete="organization" />
      <Input
        label="First member"
        path="owner.name"
        hint="Each outbound message has a member as its sender."
        name="owner"
        required
        maxLength={100}
        autocomplete="name"
      />
      <Select
        label="Where its data must stay"
        hint="This never changes."
        name="jurisdiction"
        options={{ "": "Anywhere", eu: "European Union", us: "United States" }}
      />
    </FormDialog>
  );
}
