import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { PreviewReport, PreviewRequest } from "../../shared/preview.ts";
import type { Scheme } from "../../shared/scheme.ts";
import { LANGUAGES } from "../../visitor/language.ts";
import { Button } from "../parts/button.tsx";
import { Select } from "../parts/controls.tsx";
import { Tabs } from "../parts/tabs.tsx";
import type { SettingValues } from "./channel-kinds.ts";
import { languageName } from "./language-name.ts";

export type Drawn = Extract<PreviewReport, { parley: "drawn" }>;

interface ChatPreviewProps extends Pick<PreviewRequest, "name" | "locale"> {
  settings: SettingValues;
  onLocale: (locale: string) => void;
  /** Takes what the preview says of what it drew. */
  onDrawn: (drawn: Drawn) => void;
}

/** The visitors' page with settings that are not saved. No visitor sees it, and it stores nothing. */
export function ChatPreview({ onLocale, onDrawn, ...shown }: ChatPreviewProps) {
  const { settings, locale } = shown;
  const frame = useRef<HTMLIFrameElement>(null);
  const scheme = useSignal(document.documentElement.dataset.scheme as Scheme);
  const when = useSignal<PreviewRequest["when"]>("now");
  const turn = useSignal(0);
  const here = useSignal(0);
  const isOpen = useSignal(true);
  const request = { parley: "preview", ...shown, scheme: scheme.value, when: when.value };
  useLayoutEffect(() => {
    const take = ({ data, source, origin }: MessageEvent<PreviewReport>) => {
      if (source !== frame.current?.contentWindow || origin !== location.origin) return;
      if (data.parley === "here") here.value++;
      if (data.parley !== "drawn") return;
      isOpen.value = data.isOpen;
      onDrawn(data);
    };
    addEventListener("message", take);
    return () => removeEventListener("message", take);
  }, []);
  useLayoutEffect(() => {
    if (here.value > 0) frame.current?.contentWindow?.postMessage(request, location.origin);
  }, [here.value, JSON.stringify(request)]);
  const languages = new Set([...LANGUAGES, ...Object.keys(settings.texts ?? {}), locale]);
  return (
    <section class="section chat-preview" aria-label="Preview">
      <div class="line">
        <Tabs<Scheme>
          label="Colors"
          choices={[
            { value: "light", label: "Light" },
            { value: "dark", label: "Dark" },
          ]}
          chosen={scheme.value}
          onChoose={(next) => (scheme.value = next)}
        />
        {settings.hours && (
          <Tabs<PreviewRequest["when"]>
            label="Time"
            choices={[
              { value: "now", label: "Now" },
              { value: "open", label: "When open" },
              { value: "closed", label: "When closed" },
            ]}
            chosen={when.value}
            onChoose={(next) => (when.value = next)}
          />
        )}
      </div>
      <div class="line">
        <Select
          isBare
          label="Language of the visitor"
          options={Object.fromEntries(Array.from(languages, (tag) => [tag, languageName(tag)]))}
          first={locale}
          onChange={(event) => onLocale(event.currentTarget.value)}
        />
        <Button class="button end" onClick={() => turn.value++}>
          Start over
        </Button>
      </div>
      <iframe key={turn.value} ref={frame} class="web-preview" src="/console/preview" title="The chat" />
      <p class="hint" role="status">
        {!isOpen.value && settings.hideWhenClosed
          ? "Your site hides the button at this time."
          : "This is a preview. Nothing that you write here is sent."}
      </p>
    </section>
  );
}
