import type { Chat } from "../api.ts";
import { contactName } from "../names.ts";
import { usePlace } from "../organization.ts";
import { usePages } from "../pages.ts";
import { TextButton } from "../parts/button.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";
import { Listed } from "../parts/loaded.tsx";
import type { ConversationStore } from "./conversation-store.ts";

interface PersonKeyProps {
  store: ConversationStore;
  personId: string | null;
  canWrite: boolean;
}

/** The company's own key of the person, and a way to change it. */
export function PersonKey({ store, personId, canWrite }: PersonKeyProps) {
  const change = (
    <FormDialog
      title="Person"
      submit="Save"
      onSubmit={({ optional }) => store.change({ contact: { personId: optional("personId") } })}
    >
      <Input
        label="Your key of the person"
        hint="The person’s chats on all channels have the same key. Leave empty if you have none."
        name="personId"
        path="contact.personId"
        defaultValue={personId ?? ""}
      />
    </FormDialog>
  );
  return (
    <>
      <bdi>{personId ?? "Unknown"}</bdi>{" "}
      {canWrite && (
        <TextButton opens={change} aria-label="Change the person">
          Change
        </TextButton>
      )}
    </>
  );
}

/** Links to the other chats of a person. */
export function OtherChats({ chatId, personId }: { chatId: string; personId: string }) {
  const { organization, api, to } = usePlace();
  const pages = usePages<Chat>(`list /chats ${organization.id} ${personId}`, "before", async (page, signal) => {
    const { chats, pagination } = await api.GET("/chats", { query: { ...page, person: personId }, signal });
    return { rows: chats, pagination };
  });
  const rows = { ...pages.rows, data: pages.rows.data?.filter(({ id }) => id !== chatId) };
  return (
    <Listed pages={{ ...pages, rows }} empty={<span class="quiet">None</span>}>
      {(chats) => (
        <ul>
          {chats.map((chat) => (
            <li key={chat.id}>
              <a class="link" href={to(`inbox/${chat.id}`)}>
                <bdi>{contactName(chat)}</bdi> on <bdi>{chat.channel.name}</bdi>
              </a>
            </li>
          ))}
        </ul>
      )}
    </Listed>
  );
}
