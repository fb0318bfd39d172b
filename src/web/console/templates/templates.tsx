import type { JSX } from "preact";
import { useLocation } from "preact-iso/router";
import { plural } from "../format.ts";
import { usePlace } from "../organization.ts";
import { Permitted } from "../parts/permitted.tsx";
import { Screen } from "../parts/screen.tsx";
import { Empty, Listed } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { usePages } from "../resource.ts";
import { may } from "../session.ts";
import { useShortcuts } from "../shortcuts.ts";
import { NEW, TemplateScreen } from "./template-screen.tsx";

/** All templates, or one of them. */
export function Templates({ id }: { id?: string }): JSX.Element {
  return (
    <Permitted permission="templates:read" title="Templates">
      {id ? <TemplateScreen key={id} id={id} /> : <TemplateList />}
    </Permitted>
  );
}

function TemplateList(): JSX.Element {
  const { organization, api, to } = usePlace();
  const { route } = useLocation();
  const pages = usePages(`list /templates ${organization.id}`, "page", async (query, signal) => {
    const { templates, pagination } = await api.GET("/templates", { query, signal });
    return { rows: templates, pagination };
  });
  const canWrite = may("templates:write");
  const create = canWrite ? (
    <a class="button button-main" href={to(`templates/${NEW}`)}>
      New template
    </a>
  ) : null;
  useShortcuts([{ keys: "n", label: "New template", run: () => canWrite && route(to(`templates/${NEW}`)) }]);
  return (
    <Screen
      title="Templates"
      intro="Texts with placeholders, for answers that you give often. On WhatsApp, a template that Meta approved is delivered at any time."
      actions={create}
    >
      <Listed
        pages={pages}
        empty={
          <Empty
            icon="template"
            title="No template yet"
            action={create}
            command='npm run cli -- templates create --name welcome --language en --body "Hello {{name}}"'
          >
            A template is a text with placeholders, such as {"{{name}}"}. Press <kbd>/</kbd> in an empty message to use
            one.
          </Empty>
        }
      >
        {(rows) => (
          <ul class="rows">
            {rows.map(({ id, name, language, body, variables, updatedAt }) => (
              <li key={id} class="row">
                <div class="row-main">
                  <p class="row-title">
                    <a class="row-link" href={to(`templates/${id}`)}>
                      <bdi>{name}</bdi>
                    </a>
                    <code class="quiet">{language}</code>
                  </p>
                  <p class="row-detail choice-text" dir="auto">
                    {body}
                  </p>
                </div>
                <p class="row-aside">
                  <span>{variables.length === 0 ? "No placeholder" : plural(variables.length, "placeholder")}</span>
                  <span class="quiet">
                    Changed <Time at={updatedAt} long />
                  </span>
                </p>
              </li>
            ))}
          </ul>
        )}
      </Listed>
    </Screen>
  );
}
