import type { ComponentChildren, JSX } from "preact";
import { route } from "../location.ts";
import type { Pages } from "../resource.ts";
import { useShortcuts } from "../shortcuts.ts";
import { Button } from "./button.tsx";
import type { IconName } from "./icon.tsx";
import { Screen } from "./screen.tsx";
import { Empty, Listed } from "./states.tsx";

interface ListScreenProps<Row> {
  title: string;
  /** What the screen is for, in a sentence. */
  intro: string;
  icon: IconName;
  pages: Pages<Row>;
  /** Adds a row: an address or an action. Null: the person may not. */
  create: { label: string; open: string | (() => void) } | null;
  /** What a list without rows says, and the command that adds one. */
  empty: { title: string; text: ComponentChildren; command: string };
  /** Beside the button that adds a row. */
  actions?: JSX.Element;
  /** Stands above the list. */
  notice?: ComponentChildren;
  children: (rows: Row[]) => ComponentChildren;
}

/** A screen with a list, and a button and the key `n` to add to it. */
export function ListScreen<Row>(props: ListScreenProps<Row>): JSX.Element {
  const { title, intro, icon, pages, create, actions, empty, notice, children } = props;
  const open = () => {
    if (typeof create?.open === "string") route(create.open);
    else create?.open();
  };
  useShortcuts(create ? [{ keys: "n", label: create.label, run: open }] : []);
  const button =
    typeof create?.open === "string" ? (
      <a class="button button-main" href={create.open}>
        {create.label}
      </a>
    ) : (
      create && (
        <Button class="button button-main" onClick={open}>
          {create.label}
        </Button>
      )
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
          <Empty icon={icon} title={empty.title} action={button} command={empty.command}>
            {empty.text}
          </Empty>
        }
      >
        {children}
      </Listed>
    </Screen>
  );
}
