import type { ComponentChildren, JSX } from "preact";
import { plural } from "../format.ts";
import { route } from "../location.ts";
import type { Pages } from "../pages.ts";
import { useShortcuts } from "../shortcuts.ts";
import { MainButton } from "./button.tsx";
import type { IconName } from "./icon.tsx";
import { Listed } from "./loaded.tsx";
import { openDialog } from "./opened-dialog.tsx";
import { Screen } from "./screen.tsx";
import { Empty } from "./states.tsx";

interface ListScreenProps<Row> {
  title: string;
  /** What the screen is for, in a sentence. */
  intro: string;
  icon: IconName;
  pages: Omit<Pages<Row>, "rows"> & { rows: Pick<Pages<Row>["rows"], "data" | "error" | "reload"> };
  /** Adds a row: an address or a dialog. Null: the person may not. */
  create: { label: string; opens: string | JSX.Element } | null;
  /** What a list without rows says, and the command that adds one. */
  empty: { title: string; text: ComponentChildren; command?: string };
  /** Beside the button that adds a row. */
  actions?: JSX.Element;
  /** Stands above the list. */
  notice?: ComponentChildren;
  children: (row: Row, n: number) => ComponentChildren;
  /** Rows that are folded away, and their name. */
  folded?: { isFolded: (row: Row) => boolean; name: string };
}

/** A screen with a list, and a button and the key `n` to add to it. */
export function ListScreen<Row>(props: ListScreenProps<Row>) {
  const { title, intro, icon, pages, create, actions, empty, notice, folded, children } = props;
  const open = () => {
    if (typeof create?.opens === "string") route(create.opens);
    else if (create) openDialog(create.opens);
  };
  useShortcuts(create ? [{ keys: "n", label: create.label, run: open }] : []);
  const href = typeof create?.opens === "string" ? create.opens : undefined;
  const button = create && (
    <MainButton href={href} onClick={open}>
      {create.label}
    </MainButton>
  );
  return (
    <Screen
      title={title}
      intro={intro}
      actions={
        <>
          {actions}
          {button}
        </>
      }
    >
      {notice}
      <Listed
        pages={pages}
        empty={
          <Empty icon={icon} title={empty.title} action={button} command={create ? empty.command : undefined}>
            {empty.text}
          </Empty>
        }
      >
        {(all) => {
          const hidden = folded ? all.filter(folded.isFolded) : [];
          const shown = all.filter((row) => !hidden.includes(row));
          return (
            <>
              {shown.length > 0 && <ul class="rows">{shown.map(children)}</ul>}
              {hidden.length > 0 && (
                <details>
                  <summary>{plural(hidden.length, folded?.name ?? "")}</summary>
                  <ul class="rows">{hidden.map(children)}</ul>
                </details>
              )}
            </>
          );
        }}
      </Listed>
    </Screen>
  );
}

interface RowMainProps {
  name: string;
  /** What a click on the row opens. */
  href?: string;
  /** Beside the name. */
  mark?: ComponentChildren;
  children?: ComponentChildren;
}

/** The name of a row, and what stands below it. */
export function RowMain({ name, href, mark, children }: RowMainProps) {
  return (
    <div class="row-main">
      <p class="row-title">
        {href === undefined ? (
          <strong>
            <bdi>{name}</bdi>
          </strong>
        ) : (
          <a class="row-link" href={href}>
            <bdi>{name}</bdi>
          </a>
        )}
        {mark}
      </p>
      {children}
    </div>
  );
}
