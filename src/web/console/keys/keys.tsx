import { route, type ScreenParts } from "../location.ts";
import { usePlace } from "../organization.ts";
import { usePages } from "../pages.ts";
import { ListScreen } from "../parts/list-screen.tsx";
import { now } from "../parts/time.tsx";
import { currentSession, may } from "../session.ts";
import { KeyDialog } from "./key-dialogs.tsx";
import { KeyRow, type ListedKey } from "./key-row.tsx";
import { KeyScreen } from "./key-screen.tsx";
import { stateOf } from "./key-state.ts";

export function Keys({ id }: ScreenParts) {
  return id ? <KeyScreen key={id} id={id} /> : <KeyList />;
}

function KeyList() {
  const { organization, api, to } = usePlace();
  const pages = usePages<ListedKey>(`list /keys ${organization.id}`, "page", async (query, signal) => {
    // Both lists have the same order and pages.
    const [{ keys, pagination }, stats] = await Promise.all([
      api.GET("/keys", { query, signal }),
      may("stats:read") ? api.GET("/stats", { query, signal }) : null,
    ]);
    const usedAt = new Map(stats?.keys.map(({ id, updatedAt }) => [id, updatedAt]));
    const rows = keys.map((key) => ({ key, usedAt: stats ? (usedAt.get(key.id) ?? null) : undefined }));
    return { rows, pagination };
  });
  const canCreate = may("keys:write") && (currentSession().type === "operator" || organization.selfService !== null);
  return (
    <ListScreen
      title="Keys"
      intro="Programs call the API with a key, which has permissions and limits."
      icon="key"
      pages={pages}
      create={
        canCreate
          ? { label: "New key", opens: <KeyDialog shown={null} onKey={({ key }) => route(to(`keys/${key.id}`))} /> }
          : null
      }
      empty={{
        title: "No key yet",
        text: "A program needs a key to call the API.",
        command: 'npx parley keys create --name "Shop"',
      }}
      folded={{ isFolded: ({ key }) => !stateOf(key, now.value).isLive, name: "revoked or expired key" }}
      notice={
        may("keys:write") &&
        !canCreate && (
          <p class="notice tone-warn">
            Self-service for keys is off. Ask the operator to turn it on. You can revoke keys.
          </p>
        )
      }
    >
      {(row) => <KeyRow key={row.key.id} row={row} />}
    </ListScreen>
  );
}
