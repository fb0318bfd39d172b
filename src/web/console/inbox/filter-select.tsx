interface FilterSelectProps {
  label: string;
  /** The id of an option; null for all. */
  value: string | null;
  all: string;
  options: readonly { id: string; name: string }[];
  onChange: (id: string | null) => void;
}

/** A choice that narrows a list. */
export function FilterSelect({ label, value, all, options, onChange }: FilterSelectProps) {
  return (
    <select
      class="note grow"
      aria-label={label}
      value={value ?? ""}
      onChange={(event) => onChange(event.currentTarget.value || null)}
    >
      <option value="">{all}</option>
      {options.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
