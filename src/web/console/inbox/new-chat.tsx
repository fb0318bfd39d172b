import { DESCRIPTIONS } from "../../../model/channel-kind.ts";
import type { Chat } from "../api.ts";
import { useChannels, usePlace } from "../organization.ts";
import { Select } from "../parts/controls.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { Input } from "../parts/field.tsx";

/** Begins a chat with a contact, or finds the one that exists. */
export function NewChat({ onChat }: { onChat: (chat: Chat) => void }) {
  const { api } = usePlace();
  const channels = useChannels();
  const kinds = [...new Set(channels.map(({ kind }) => kind))];
  return (
    <FormDialog
      title="New chat"
      submit="Open the chat"
      isDisabled={channels.length === 0}
      onSubmit={async ({ text, optional }) => {
        const name = optional("name");
        const contact = { address: text("address"), ...(name !== null && { name }) };
        onChat((await api.POST("/chats", { body: { channelId: text("channel"), contact } })).chat);
      }}
    >
      {channels.length === 0 && <p class="stack">There is no channel yet. Set one up under Channels first.</p>}
      <Select
        label="Channel"
        name="channel"
        path="channelId"
        required
        options={Object.fromEntries(channels.map(({ id, name }) => [id, name]))}
      />
      <Input
        label="Address"
        path="contact.address"
        hint={kinds.map((kind) => <span key={kind}>{DESCRIPTIONS[kind].address} </span>)}
        name="address"
        required
      />
      <Input label="Name" hint="Optional." name="name" path="contact.name" />
    </FormDialog>
  );
}
