import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { directionOf, LANGUAGES } from "../../visitor/language.ts";
import { LateInput } from "../parts/controls.tsx";
import { Input } from "../parts/field.tsx";
import type { SettingValues } from "./channel-kinds.ts";
import { languageName } from "./language-name.ts";

type Texts = NonNullable<SettingValues["texts"]>;

interface TextsProps {
  texts: Texts | undefined;
  /** The language whose texts are shown. */
  locale: string;
  onLocale: (locale: string) => void;
  /** The page's own texts in that language, by name. */
  defaults: Record<string, string>;
  onTexts: (texts: Texts | null) => void;
}

/** The page's texts in one language. An empty field stands for the page's own text. */
export function TextsField({ texts = {}, locale, onLocale, defaults, onTexts }: TextsProps) {
  const languages = useId();
  const filter = useSignal("");
  const own = texts[locale] ?? {};
  const wanted = filter.value.toLowerCase();
  const change = (name: string, text: string) => {
    const { [name]: _, ...others } = own;
    const { [locale]: __, ...rest } = texts;
    const changed = text === "" ? others : { ...own, [name]: text };
    const all = Object.keys(changed).length > 0 ? { ...texts, [locale]: changed } : rest;
    onTexts(Object.keys(all).length > 0 ? all : null);
  };
  return (
    <>
      <div class="pair-even">
        <LateInput
          label="Language"
          hint={`${languageName(locale)}. Other languages are possible too, such as sv or pt-BR.`}
          path={`settings.texts.${locale}`}
          list={languages}
          value={locale}
          onValue={(tag) => onLocale(tag || "en")}
        />
        <datalist id={languages}>
          {LANGUAGES.map((tag) => (
            <option key={tag} value={tag} label={languageName(tag)} />
          ))}
        </datalist>
        <Input
          label="Find a text"
          type="search"
          value={filter.value}
          onInput={({ currentTarget }) => (filter.value = currentTarget.value)}
          // It would save.
          onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
        />
      </div>
      <div class="texts pair-even" dir={directionOf(locale.split("-")[0] ?? "")}>
        {Object.entries(defaults)
          .filter((pair) => [...pair, own[pair[0]] ?? ""].some((text) => text.toLowerCase().includes(wanted)))
          .map(([name, text]) => (
            <Input
              key={`${locale} ${name}`}
              label={name}
              path={`settings.texts.${locale}.${name}`}
              placeholder={text}
              value={own[name] ?? ""}
              onInput={({ currentTarget }) => change(name, currentTarget.value)}
            />
          ))}
      </div>
    </>
  );
}
