import type { AuditAction } from "../../../model/audit-action.ts";
import { useMembers } from "../organization.ts";
import { LateInput, Select } from "../parts/controls.tsx";
import { ACTION_WORDS } from "./actions.ts";

/** Empty texts don't filter. */
export interface AuditFilter {
  /** The id of a member or a key, or `operator`. */
  actor: string;
  action: AuditAction | "";
  /** An id. */
  target: string;
}

export const NO_FILTER: AuditFilter = { actor: "", action: "", target: "" };

interface FiltersProps {
  filter: AuditFilter;
  onFilter: (filter: AuditFilter) => void;
}

/** Chooses which entries are listed. */
export function Filters({ filter, onFilter }: FiltersProps) {
  const names: Record<string, string> = Object.fromEntries(useMembers().map(({ id, name }) => [id, name]));
  const isUnknown = !["", "operator", ...Object.keys(names)].includes(filter.actor);
  return (
    <search class="pair-even">
      <Select
        label="Who"
        value={filter.actor}
        options={{
          "": "Anybody",
          operator: "Operator",
          ...names,
          ...(isUnknown && { [filter.actor]: filter.actor }),
        }}
        onChange={({ currentTarget }) => onFilter({ ...filter, actor: currentTarget.value })}
      />
      <Select
        label="What"
        value={filter.action}
        onChange={({ currentTarget }) => onFilter({ ...filter, action: currentTarget.value as AuditFilter["action"] })}
        options={{ "": "Anything", ...ACTION_WORDS }}
      />
      <LateInput
        label="Target"
        type="search"
        placeholder="An id"
        spellcheck={false}
        maxLength={64}
        value={filter.target}
        onValue={(target) => onFilter({ ...filter, target })}
      />
    </search>
  );
}
