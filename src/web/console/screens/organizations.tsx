import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { type Failure, listOrganizations, type Organization, type SignedIn } from "../api.ts";
import { FailureNotice } from "../parts/failure.tsx";
import { WORDS } from "../words.ts";

/** Where a person begins: all organizations for the operator, its own for a member. */
export function OrganizationsScreen({ session }: { session: SignedIn }): JSX.Element {
  const organizations = useSignal<Organization[] | null>(session.organization && [session.organization]);
  const nextPage = useSignal<number | null>(session.type === "operator" ? 1 : null);
  const failure = useSignal<Failure | null>(null);

  async function load(): Promise<void> {
    const page = nextPage.value;
    if (page === null) return;
    failure.value = null;
    const result = await listOrganizations(page);
    if (!result.ok) {
      failure.value = result.failure;
      return;
    }
    organizations.value = [...(organizations.value ?? []), ...result.data.organizations];
    nextPage.value = result.data.pagination.hasMore ? page + 1 : null;
  }

  useEffect(() => {
    document.title = `${WORDS.organizations} · ${WORDS.product}`;
    void load();
  }, []);

  return (
    <>
      <h1>{WORDS.organizations}</h1>
      {organizations.value?.length === 0 && (
        <p class="quiet">
          There is no organization yet. Create one with <code>npx parley organizations create</code>.
        </p>
      )}
      {organizations.value === null && failure.value === null && <p class="skeleton">Loading…</p>}
      <ul class="rows">
        {organizations.value?.map(({ id, name }) => (
          <li key={id}>
            <a href={`/console/o/${id}`}>
              <bdi>{name}</bdi>
            </a>
            <code class="quiet">{id}</code>
          </li>
        ))}
      </ul>
      {failure.value && <FailureNotice failure={failure.value} onRetry={() => void load()} />}
      {nextPage.value !== null && nextPage.value > 1 && !failure.value && (
        <button type="button" class="button" onClick={() => void load()}>
          Show more
        </button>
      )}
    </>
  );
}
