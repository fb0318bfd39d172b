import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { addressOf, type Chat } from "../api.ts";
import { exactTime } from "../format.ts";
import { LabelMarks } from "../labels/label-marks.tsx";
import { useLabels } from "../labels/use-labels.ts";
import { route } from "../location.ts";
import { contactName } from "../names.ts";
import { useChannels, usePlace } from "../organization.ts";
import { Button, DangerLink, TextButton } from "../parts/button.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Confirm, FormDialog } from "../parts/dialog.tsx";
import { Facts } from "../parts/facts.tsx";
import { useFaults } from "../parts/faults.ts";
import { Input } from "../parts/field.tsx";
import { now, Time, untilThen } from "../parts/time.tsx";
import { may } from "../session.ts";
import type { ConversationStore } from "./conversation-store.ts";
import { HandlerFact } from "./handler.tsx";
import { LabelsDialog } from "./labels-dialog.tsx";
import { OtherChats, PersonKey } from "./person.tsx";
import type { Work } from "./use-work.ts";

type ConsentOf = Pick<Chat, "marketing">;

interface PanelProps {
  store: ConversationStore;
  chat: Chat;
  work: Work;
  onClose: () => void;
}

/** What is known about the contact, and what can be done with the chat. */
export function ContactPanel({ store, chat, work, onClose }: PanelProps) {
  const { organization, api, to } = usePlace();
  const { contact, channel, metadata, createdAt, id, replyUntil } = chat;
  const others = contact.addresses.filter((address) => address !== contact.address);
  const canWrite = may("chats:write");
  const labels = useLabels().data ?? [];
  const hasBot = useChannels().some(({ id, settings }) => id === channel.id && settings.bot);
  const rename = (
    <FormDialog
      title="Contact’s name"
      submit="Save"
      onSubmit={({ optional }) => store.change({ contact: { name: optional("name") } })}
    >
      <Input
        label="Name"
        hint="Leave empty to show the address."
        name="name"
        path="contact.name"
        defaultValue={contact.name ?? ""}
      />
    </FormDialog>
  );
  const erase = (
    <Confirm
      title="Delete this chat?"
      submit="Delete"
      typed={contactName(chat)}
      done="Deleted"
      onSubmit={async () => {
        await api.DELETE("/chats/{id}", { path: { id } });
        route(to("inbox"));
      }}
    >
      <p>All its messages are deleted, and waiting ones are not sent. This can’t be undone.</p>
    </Confirm>
  );
  return (
    <>
      <header class="between">
        <h2>Contact</h2>
        <Button icon="close" aria-label="Close the details" onClick={onClose} />
      </header>
      <Facts
        of={{
          Name: (
            <>
              <bdi>{contact.name ?? "Unknown"}</bdi> {canWrite && <TextButton opens={rename}>Change</TextButton>}
            </>
          ),
          Person: <PersonKey store={store} personId={contact.personId} canWrite={canWrite} />,
          "The person’s other chats": contact.personId !== null && (
            <OtherChats key={contact.personId} chatId={id} personId={contact.personId} />
          ),
          Username: contact.username && <bdi>@{contact.username}</bdi>,
          Address: <Copyable text={contact.address} />,
          "Also known as": others.length > 0 && others.map((address) => <Copyable key={address} text={address} />),
          "Same contact": contact.sameAs?.map((other) => (
            <a key={other} class="link" href={to(`inbox/${other}`)}>
              Another chat
            </a>
          )),
          Channel: <bdi>{channel.name}</bdi>,
          "Answered by": (hasBot || chat.handler === "bot") && (
            <HandlerFact chat={chat} work={work} canWrite={canWrite} />
          ),
          "Free text": replyUntil && <Window until={Date.parse(replyUntil)} />,
          Marketing: <Consent store={store} marketing={chat.marketing} canWrite={canWrite} />,
          Began: <Time at={createdAt} long />,
          Chat: <Copyable text={id} />,
        }}
      />
      <section class="panel-part">
        <h3>Labels</h3>
        {chat.labels.length === 0 ? (
          <p class="quiet">None.</p>
        ) : (
          <p class="line">
            <LabelMarks labels={chat.labels} all={labels} />
          </p>
        )}
        {canWrite && <TextButton opens={<LabelsDialog store={store} />}>Change the labels</TextButton>}
      </section>
      <section class="panel-part">
        <h3>Metadata</h3>
        {Object.keys(metadata).length === 0 ? (
          <p class="quiet">None.</p>
        ) : (
          <Facts
            of={Object.fromEntries(
              Object.entries(metadata).map(([name, value]) => [name, <bdi key={name}>{value}</bdi>]),
            )}
          />
        )}
        {canWrite && (
          <TextButton opens={<MetadataDialog store={store} metadata={metadata} />}>Change the metadata</TextButton>
        )}
      </section>
      <section class="panel-part">
        {may("data:export") && (
          <a class="link" href={addressOf(organization.id, `/chats/${id}/export`)} download={`${id}.ndjson`}>
            Export this chat
          </a>
        )}
        {may("chats:erase") && <DangerLink opens={erase}>Delete this chat</DangerLink>}
      </section>
    </>
  );
}

/** Until when the network delivers free text. */
function Window({ until }: { until: number }) {
  return until > now.value ? (
    <span title={exactTime(until)}>The window closes {untilThen(until)}.</span>
  ) : (
    <span class="warn">The window is closed. Only templates are delivered.</span>
  );
}

/** Who said last whether the contact takes marketing. */
const SPEAKERS = { contact: "the contact", network: "the network", key: "a program", member: "a member" };

/** Whether the contact takes marketing templates, and a way to change that. */
function Consent({ store, marketing, canWrite }: { store: ConversationStore; canWrite: boolean } & ConsentOf) {
  const isOut = marketing?.optedOut === true;
  const change = (
    <Confirm
      title={isOut ? "Send marketing again?" : "Send no more marketing?"}
      submit={isOut ? "Allow marketing" : "Opt out"}
      onSubmit={() => store.change({ marketing: { optedOut: !isOut } })}
    >
      <p>
        {isOut
          ? "Do this only if the contact has agreed. Marketing templates are sent again."
          : "Marketing templates to this contact are refused, and scheduled ones fail."}
      </p>
    </Confirm>
  );
  return (
    <>
      {marketing ? (
        <span class={isOut ? "warn" : undefined}>
          {isOut ? "Opted out" : "Allowed"} by {SPEAKERS[marketing.by]} <Time at={marketing.at} long />
        </span>
      ) : (
        "No choice known"
      )}{" "}
      {canWrite && <TextButton opens={change}>{isOut ? "Allow" : "Opt out"}</TextButton>}
    </>
  );
}

function MetadataDialog({ store, metadata }: { store: ConversationStore; metadata: Chat["metadata"] }) {
  const rows = useSignal([...Object.entries(metadata), ["", ""] as [string, string]]);
  const change = (at: number, pair: [string, string]) => {
    const next = rows.value.map((row, n) => (n === at ? pair : row));
    rows.value = next.at(-1)?.[0] === "" ? next : [...next, ["", ""]];
  };
  return (
    <FormDialog
      title="Metadata"
      submit="Save"
      onSubmit={async () => {
        const wanted = Object.fromEntries(rows.value.filter(([name]) => name !== ""));
        const removed = Object.keys(metadata).filter((name) => !Object.hasOwn(wanted, name));
        await store.change({ metadata: { ...wanted, ...Object.fromEntries(removed.map((name) => [name, null])) } });
      }}
    >
      <p class="stack">The contact never sees them.</p>
      {rows.value.map(([name, value], at) => (
        <MetadataPair key={at} name={name}>
          <input
            aria-label="Name"
            placeholder="Name"
            maxLength={40}
            value={name}
            onInput={(event) => change(at, [event.currentTarget.value, value])}
          />
          <input
            aria-label="Value"
            placeholder="Value"
            maxLength={500}
            value={value}
            onInput={(event) => change(at, [name, event.currentTarget.value])}
          />
        </MetadataPair>
      ))}
    </FormDialog>
  );
}

/** A name and its value, and below them what is wrong. */
function MetadataPair({ name, children }: { name: string; children: ComponentChildren }) {
  const [fault] = useFaults(`metadata.${name}`);
  return (
    <div>
      <div class="pair-even">{children}</div>
      {fault && (
        <p class="hint failed">
          “{name}” {fault.message}
        </p>
      )}
    </div>
  );
}
