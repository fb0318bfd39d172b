import { useSignal } from "@preact/signals";
import type { Uploads } from "../../../model/page-facts.ts";
import { plural } from "../format.ts";
import { useGet, usePlace } from "../organization.ts";
import { Checkbox, Select, TextArea } from "../parts/controls.tsx";
import { Box } from "../parts/facts.tsx";
import { Field, Input } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { NotFound } from "../parts/not-found.tsx";
import { Screen } from "../parts/screen.tsx";
import type { ChannelProps, SettingValues } from "./channel-kinds.ts";
import { ChatPreview, type Drawn } from "./chat-preview.tsx";
import { HoursField } from "./hours-field.tsx";
import { useSettingsDraft } from "./settings-draft.ts";
import { TextsField } from "./texts-field.tsx";
import { OriginsField } from "./web-parts.tsx";

const MAX_STARTERS = 5;
/** The page's own color. */
const OURS = "#0d6b5e";

/** How a web chat looks and speaks, with the page as visitors see it beside. */
export function ChatSettings({ id }: { id: string }) {
  const { to } = usePlace();
  const found = useGet("/channels/{id}", { path: { id } });
  const channel = found.data?.channel;
  if (channel && channel.kind !== "web") return <NotFound />;
  return (
    <Screen
      title="Chat settings"
      intro="How the chat looks and speaks. An empty field stands for the default."
      back={{ href: to(`channels/${id}`), label: channel?.name ?? "Channel" }}
    >
      <Loaded resource={found}>{(data) => <Editor channel={data.channel} onChannel={found.set} />}</Loaded>
    </Screen>
  );
}

function Editor({ channel, onChannel }: ChannelProps) {
  const { api } = usePlace();
  const { shown, changed, count, set, discard } = useSettingsDraft(channel);
  const drawn = useSignal<Drawn | null>(null);
  const locale = useSignal("en");
  /** What the preview loads: not each letter of an address. */
  const logoUrl = useSignal(shown.logoUrl);
  const { id, name } = channel;
  const line = (setting: "title" | "accentColor" | "logoUrl" | "greeting") => ({
    spellcheck: setting === "title" || setting === "greeting",
    value: shown[setting] ?? "",
    onInput: (event: { currentTarget: { value: string } }) => set({ [setting]: event.currentTarget.value || null }),
  });
  const starters = shown.starters ?? [];
  const setStarters = (next: string[]) => set({ starters: next.length > 0 ? next : null });
  return (
    <div class="editor">
      <Form
        submit="Save"
        done="Saved"
        isDisabled={count === 0}
        cancel={`Discard ${plural(count, "change")}`}
        onCancel={count > 0 ? discard : undefined}
        onSubmit={async () => {
          onChannel(await api.PATCH("/channels/{id}", { path: { id }, body: { settings: changed } }));
        }}
      >
        <Box title="Look">
          <Input label="Title" path="settings.title" dir="auto" placeholder={name} {...line("title")} />
          <Field label="Accent color" path="settings.accentColor" hint={<Shades drawn={drawn.value} />}>
            {(ties) => (
              <div class="line">
                <input {...ties} class="grow" placeholder={OURS} {...line("accentColor")} />
                <input
                  type="color"
                  aria-label="Pick the accent color"
                  value={/^#[\da-f]{6}$/i.test(shown.accentColor ?? "") ? shown.accentColor : OURS}
                  onInput={(event) => set({ accentColor: event.currentTarget.value })}
                />
              </div>
            )}
          </Field>
          <Input
            label="Logo"
            path="settings.logoUrl"
            placeholder="https://www.example.com/logo.png"
            {...line("logoUrl")}
            onChange={(event) => (logoUrl.value = event.currentTarget.value)}
            hint={<LogoState url={shown.logoUrl} logo={drawn.value?.logo} />}
          />
        </Box>
        <Box title="Empty chat">
          <TextArea
            label="Greeting"
            path="settings.greeting"
            rows={4}
            dir="auto"
            placeholder={drawn.value?.texts.emptyText}
            {...line("greeting")}
          />
          <fieldset class="stack">
            <legend>Starters</legend>
            <p class="hint">First messages that a visitor sends with one tap.</p>
            {[...starters, ""].slice(0, MAX_STARTERS).map((text, index) => (
              <Input
                key={index}
                isBare
                label={`Starter ${index + 1}`}
                path={`settings.starters.${index}`}
                dir="auto"
                value={text}
                onInput={({ currentTarget }) => setStarters(starters.toSpliced(index, 1, currentTarget.value))}
                onChange={() => setStarters(starters.filter(Boolean))}
              />
            ))}
          </fieldset>
        </Box>
        <Box title="Hours">
          <HoursField
            hours={shown.hours}
            away={shown.away}
            hint="Visitors can write at any time. Outside of your hours, the page says when you are back."
            set={set}
          />
          {shown.hours && (
            <Checkbox
              checked={shown.hideWhenClosed ?? false}
              onChange={(event) => set({ hideWhenClosed: event.currentTarget.checked })}
            >
              Hide the button on your site outside of these hours
            </Checkbox>
          )}
        </Box>
        <Box title="Visitors">
          <Select
            label="Ask for a name and an email address"
            hint="Only anonymous visitors, once. They can decline, and nobody verifies the answers."
            options={{ never: "Never", afterFirst: "After the first message", whenClosed: "Outside of your hours" }}
            first={shown.askContact}
            onChange={(event) =>
              set({ askContact: event.currentTarget.value as NonNullable<SettingValues["askContact"]> })
            }
          />
          <Select
            label="Take files"
            options={{
              everyone: "From all visitors",
              verified: "Only from users that your site signed in",
              off: "From nobody",
            }}
            first={shown.uploads}
            onChange={(event) => set({ uploads: event.currentTarget.value as Uploads })}
          />
          <Sites origins={shown.allowedOrigins ?? []} onOrigins={(allowedOrigins) => set({ allowedOrigins })} />
        </Box>
        <Box title="Texts">
          <TextsField
            texts={shown.texts}
            locale={locale.value}
            onLocale={(next) => (locale.value = next)}
            defaults={drawn.value?.texts ?? {}}
            onTexts={(texts) => set({ texts })}
          />
        </Box>
      </Form>
      <ChatPreview
        name={name}
        settings={{ ...shown, logoUrl: logoUrl.value ?? "" }}
        locale={locale.value}
        onLocale={(next) => (locale.value = next)}
        onDrawn={(next) => (drawn.value = next)}
      />
    </div>
  );
}

/** What becomes of the color on a light and on a dark page. */
function Shades({ drawn }: { drawn: Drawn | null }) {
  if (!drawn?.shades.light) return <>The color of the button and of the visitor’s messages.</>;
  return (
    <>
      {(["light", "dark"] as const).map((scheme) => {
        const { given, accent, contrast } = drawn.shades[scheme] ?? { given: "", accent: "", contrast: 1 };
        const ratio = `${contrast.toFixed(1)} : 1`;
        return (
          <span key={scheme} class="beside">
            <span class="swatch" style={{ background: accent }} />
            {accent === given.toLowerCase()
              ? `Used as it is in ${scheme} colors, with a contrast of ${ratio}.`
              : `${accent} is used in ${scheme} colors, because yours is hard to read there (${ratio}).`}
          </span>
        );
      })}
    </>
  );
}

/** What the preview’s browser says of a logo. This page loads no pictures of other hosts. */
function LogoState({ url, logo }: { url: string | undefined; logo: Drawn["logo"] | undefined }) {
  if (!url || logo?.url !== url) {
    return <>A square picture at an https address. Only the preview and your visitors’ browsers load it.</>;
  }
  if (!logo.loads) {
    return <span class="warn">It can’t be loaded. Visitors see the title’s first letter.</span>;
  }
  return <>It loads in the preview.{!logo.isSquare && " It is not square, so visitors see its middle."}</>;
}

function Sites({ origins, onOrigins }: { origins: string[]; onOrigins: (origins: string[]) => void }) {
  const text = useSignal("");
  const wordsIn = (lines: string) => lines.split(/[\s,]+/u).filter(Boolean);
  // What was typed, with its empty lines, until something else changes the sites.
  const value = wordsIn(text.value).join() === origins.join() ? text.value : origins.join("\n");
  return (
    <OriginsField
      origins={origins}
      value={value}
      onInput={({ currentTarget }) => {
        text.value = currentTarget.value;
        onOrigins(wordsIn(text.value));
      }}
    />
  );
}
