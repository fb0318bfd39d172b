import type { JSX } from "preact";
import type { Channel, Chat } from "../api.ts";
import { usePlace } from "../organization.ts";
import { Dialog, Field, Form } from "../parts/dialog.tsx";

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
        <Field label="Channel">
          {(id) => (
            <select id={id} name="channel" required>
              {channels.map((channel) => (
                <option key={channel.id} value={channel.id}>
                  {channel.name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Address" hint={kinds.map((kind) => <span key={kind}>{ADDRESS_HINTS[kind]} </span>)}>
          {(id) => <input id={id} name="address" required autocomplete="off" />}
        </Field>
        <Field label="Name" hint="Optional.">
          {(id) => <input id={id} name="name" autocomplete="off" />}
        </Field>
      </Form>
    </Dialog>
  );
}
