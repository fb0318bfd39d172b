import type { JSX } from "preact";
import type { AuditAction } from "../../../audit/actions.ts";
import { useMembers } from "../organization.ts";
import { Input, Select } from "../parts/field.tsx";
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
export function Filters({ filter, onFilter }: FiltersProps): JSX.Element {
  const members = useMembers();
  const isKnown = filter.actor === "operator" || members.some(({ id }) => id === filter.actor);
  return (
    <search class="pair-even">
      <Select
        label="Who"
        value={filter.actor}
        onChange={({ currentTarget }) => onFilter({ ...filter, actor: currentTarget.value })}
      >
        <option value="">Anybody</option>
        <option value="operator">Operator</option>
        {members.map((member) => (
          <option key={member.id} value={member.id}>
            {member.name}
          </option>
        ))}
        {filter.actor !== "" && !isKnown && <option value={filter.actor}>{filter.actor}</option>}
      </Select>
      <Select
        label="What"
        value={filter.action}
        onChange={({ currentTarget }) => onFilter({ ...filter, action: currentTarget.value as AuditFilter["action"] })}
      >
        <option value="">Anything</option>
        {Object.entries(ACTION_WORDS).map(([action, words]) => (
          <option key={action} value={action}>
            {words}
          </option>
        ))}
      </Select>
      <Input
        label="Target"
        type="search"
        placeholder="An id"
        spellcheck={false}
        maxLength={64}
        value={filter.target}
        onChange={({ currentTarget }) => onFilter({ ...filter, target: currentTarget.value.trim() })}
      />
    </search>
  );
}
