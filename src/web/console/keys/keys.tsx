import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useLocation } from "preact-iso/router";
import { plural } from "../format.ts";
import { usePlace } from "../organization.ts";
import { Permitted } from "../parts/permitted.tsx";
import { Screen } from "../parts/screen.tsx";
import { SecretDialog } from "../parts/secret.tsx";
import { Empty, Listed } from "../parts/states.tsx";
import { now } from "../parts/time.tsx";
import { usePages } from "../resource.ts";
import { currentSession, may } from "../session.ts";
import { useShortcuts } from "../shortcuts.ts";
import { type Made, NewKeyDialog } from "./key-form.tsx";
import { KeyRow, type ListedKey } from "./key-row.tsx";
import { KeyScreen } from "./key-screen.tsx";
import { stateOf } from "./key-state.ts";

const PAGE = 50;

/** All keys, or one of them. */
export function Keys({ id }: { id?: string }): JSX.Element {
  return (
    <Permitted permission="keys:read" title="Keys">
      {id ? <KeyScreen key={id} id={id} /> : <KeyList />}
    </Permitted>
  );
}

function KeyList(): JSX.Element {
  const { organization, api, to } = usePlace();
  const { route } = useLocation();
  const isCreating = useSignal(false);
  const made = useSignal<Made | null>(null);
  const pages = usePages<ListedKey, number>(`keys ${organization.id}`, async (page, signal) => {
    const query = { page: page ?? 1, limit: PAGE };
    // Both lists have the same order and pages.
    const [list, stats] = await Promise.all([
      api.GET("/keys", { query, signal }),
      may("stats:read") ? api.GET("/stats", { query, signal }) : null,
    ]);
    const usedAt = new Map(stats?.keys.map(({ id, updatedAt }) => [id, updatedAt]));
    const rows = list.keys.map((key) => ({ key, usedAt: stats ? (usedAt.get(key.id) ?? null) : undefined }));
    return { rows, next: list.pagination.hasMore ? query.page + 1 : null };
  });
  const canCreate = may("keys:write") && (currentSession().type === "operator" || organization.selfService !== null);
  const create = canCreate ? (
    <button type="button" class="button button-main" onClick={() => (isCreating.value = true)}>
      New key
    </button>
  ) : null;
  useShortcuts([{ keys: "n", label: "New key", run: () => (isCreating.value = canCreate) }]);

  return (
    <Screen
      title="Keys"
      intro="Programs call the API with a key. Each has permissions, a rate limit and, if you want, a monthly quota."
      actions={create}
    >
      {may("keys:write") && !canCreate && (
        <p class="notice notice-warn">Only the operator creates and changes keys here. You can revoke them.</p>
      )}
      <Listed
        pages={pages}
        empty={
          <Empty icon="key" title="No key yet" action={create} command='npm run cli -- keys create --name "Shop"'>
            A program needs a key to send and read messages.
          </Empty>
        }
      >
        {(rows) => <Rows rows={rows} />}
      </Listed>
      {isCreating.value && (
        <NewKeyDialog
          onClose={() => (isCreating.value = false)}
          onMade={(one) => {
            isCreating.value = false;
            made.value = one;
            pages.rows.reload();
          }}
        />
      )}
      {made.value && (
        <SecretDialog
          title="Save this key now"
          secret={made.value.secret}
          onClose={() => {
            const id = made.value?.key.id;
            made.value = null;
            route(to(`keys/${id}`));
          }}
        >
          <p>
            It is shown only this once. Keep it where the program reads its secrets. If it is lost, rotate the key to
            get another.
          </p>
        </SecretDialog>
      )}
    </Screen>
  );
}

function Rows({ rows }: { rows: ListedKey[] }): JSX.Element {
  const live = rows.filter(({ key }) => stateOf(key, now.value).isLive);
  const over = rows.filter((row) => !live.includes(row));
  return (
    <>
      {live.length > 0 && (
        <ul class="rows">
          {live.map((row) => (
            <KeyRow key={row.key.id} row={row} />
          ))}
        </ul>
      )}
      {over.length > 0 && (
        <details class="folded">
          <summary>{plural(over.length, "revoked or expired key")}</summary>
          <ul class="rows">
            {over.map((row) => (
              <KeyRow key={row.key.id} row={row} />
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
