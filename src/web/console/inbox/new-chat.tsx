import type { JSX } from "preact";
import type { Channel, Chat } from "../api.ts";
import { usePlace } from "../organization.ts";
import { Dialog, Form } from "../parts/dialog.tsx";
import { Input, Select } from "../parts/field.tsx";

interface NewChatProps {
  channels: Channel[];
  onClose: () => void;
  onChat: (chat: Chat) => void;
}

const ADDRESS_HINTS = {
  whatsapp: "A phone number with its country code.",
  telegram: "A chat id of Telegram. A bot can only write to people who wrote to it first.",
  web: "Your site’s own id of the user.",
};

/** Begins a chat with a contact, or finds the one that exists. */
export function NewChat({ channels, onClose, onChat }: NewChatProps): JSX.Element {
  const { api } = usePlace();
  const kinds = [...new Set(channels.map(({ kind }) => kind))];
  return (
    <Dialog title="New chat" onClose={onClose}>
      <Form
        submit="Open the chat"
        onCancel={onClose}
        isDisabled={channels.length === 0}
        onSubmit={async ({ text }) => {
          const name = text("name").trim();
          const contact = { address: text("address"), ...(name !== "" && { name }) };
          const { chat } = await api.POST("/chats", { body: { channelId: text("channel"), contact } });
          onClose();
          onChat(chat);
        }}
      >
        {channels.length === 0 && <p class="prose">There is no channel yet. Set one up under Channels first.</p>}
        <Select label="Channel" name="channel" required>
          {channels.map((channel) => (
            <option key={channel.id} value={channel.id}>
              {channel.name}
            </option>
          ))}
        </Select>
        <Input
          label="Address"
          hint={kinds.map((kind) => <span key={kind}>{ADDRESS_HINTS[kind]} </span>)}
          name="address"
          required
        />
        <Input label="Name" hint="Optional." name="name" />
      </Form>
    </Dialog>
  );
}
