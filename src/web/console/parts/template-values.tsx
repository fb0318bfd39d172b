import { Input } from "./field.tsx";

interface ValuesProps {
  /** The names of a template's placeholders. */
  names: readonly string[];
  values: Readonly<Record<string, string>>;
  onValues: (values: Record<string, string>) => void;
  placeholder?: string;
  required?: boolean;
}

/** A field for each placeholder of a template. */
export function TemplateValues({ names, values, onValues, ...input }: ValuesProps) {
  return (
    <>
      {names.map((name) => (
        <Input
          {...input}
          key={name}
          path={`variables.${name}`}
          label={name}
          value={values[name] ?? ""}
          onInput={(event) => onValues({ ...values, [name]: event.currentTarget.value })}
        />
      ))}
    </>
  );
}
