import { DESCRIPTIONS } from "../../../channels/descriptions.ts";
import { Input } from "../parts/field.tsx";
import type { Entered } from "../parts/form.tsx";
import type { Kind } from "./channel-kinds.ts";

/** The fields of a kind's credentials. @param ends the last characters of what is stored, if some are */
export function CredentialFields({ kind, ends }: { kind: Kind; ends?: Record<string, string> }) {
  return (
    <>
      {DESCRIPTIONS[kind].credentials.map(({ name, label, hint, isSecret }) => (
        <Input
          key={name}
          label={label}
          hint={ends?.[name] ? `Leave empty to keep the one that ends with ${ends[name]}.` : hint}
          name={name}
          path={`credentials.${name}`}
          {...(isSecret ? ({ type: "password" } as const) : {})}
          required={ends === undefined}
          spellcheck={false}
        />
      ))}
    </>
  );
}

/** The credentials that were entered. */
export function credentialsIn(kind: Kind, { text }: Entered): Record<string, string> {
  const entered = DESCRIPTIONS[kind].credentials.map(({ name }) => [name, text(name).trim()] as const);
  return Object.fromEntries(entered.filter(([, value]) => value !== ""));
}
