import type { JSX } from "preact";
import type { AuditAction } from "../../../admin/actions.ts";
import { useMembers } from "../organization.ts";
import { Field } from "../parts/dialog.tsx";
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
  const members = useMembers().data ?? [];
  const isKnown = filter.actor === "operator" || members.some(({ id }) => id === filter.actor);
  return (
    <search class="filters">
      <Field label="Who">
        {(id) => (
          <select
            id={id}
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
          </select>
        )}
      </Field>
      <Field label="What">
        {(id) => (
          <select
            id={id}
            value={filter.action}
            onChange={({ currentTarget }) =>
              onFilter({ ...filter, action: currentTarget.value as AuditFilter["action"] })
            }
          >
            <option value="">Anything</option>
            {Object.entries(ACTION_WORDS).map(([action, words]) => (
              <option key={action} value={action}>
                {words}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Target">
        {(id) => (
          <input
            id={id}
            type="search"
            placeholder="An id"
            autocomplete="off"
            spellcheck={false}
            maxLength={64}
            value={filter.target}
            onChange={({ currentTarget }) => onFilter({ ...filter, target: currentTarget.value.trim() })}
          />
        )}
      </Field>
    </search>
  );
}
