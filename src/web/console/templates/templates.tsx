import { plural } from "../format.ts";
import type { ScreenParts } from "../location.ts";
import { usePlace } from "../organization.ts";
import { usePages } from "../pages.ts";
import { ListScreen, RowMain } from "../parts/list-screen.tsx";
import { Time } from "../parts/time.tsx";
import { may } from "../session.ts";
import { NEW, TemplateScreen } from "./template-screen.tsx";

export function Templates({ id }: ScreenParts) {
  return id ? <TemplateScreen key={id} id={id} /> : <TemplateList />;
}

function TemplateList() {
  const { organization, api, to } = usePlace();
  const pages = usePages(`list /templates ${organization.id}`, "page", async (query, signal) => {
    const { templates, pagination } = await api.GET("/templates", { query, signal });
    return { rows: templates, pagination };
  });
  return (
    <ListScreen
      title="Templates"
      intro="Texts for replies that you send often. Networks that approve templates deliver them at any time."
      icon="template"
      pages={pages}
      create={may("templates:write") ? { label: "New template", opens: to(`templates/${NEW}`) } : null}
      empty={{
        title: "No template yet",
        text: (
          <>
            Press <kbd>t</kbd> in a chat to use one.
          </>
        ),
        command: 'npx parley templates create --name welcome --language en --body "Hello {{name}}"',
      }}
    >
      {({ id, name, language, body, variables, updatedAt }) => (
        <li key={id} class="row">
          <RowMain name={name} href={to(`templates/${id}`)} mark={<code class="quiet">{language}</code>}>
            <p class="row-detail clip" dir="auto">
              {body}
            </p>
          </RowMain>
          <p class="row-aside">
            <span>{variables.length === 0 ? "No placeholder" : plural(variables.length, "placeholder")}</span>
            <span class="quiet">
              Changed <Time at={updatedAt} long />
            </span>
          </p>
        </li>
      )}
    </ListScreen>
  );
}
