import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { apiOf } from "./api.ts";
import { timeOfDay } from "./format.ts";
import { Inbox } from "./inbox/inbox.tsx";
import { connection, follow, unansweredCount, upToDateAt } from "./inbox/live.ts";
import { MENU, type MenuEntry } from "./menu-entries.ts";
import { addressIn, type Place, PlaceContext, usePlace } from "./organization.ts";
import { Palette } from "./palette.tsx";
import { Avatar } from "./parts/badge.tsx";
import { Icon } from "./parts/icon.tsx";
import { ManagementScreen } from "./parts/management-screen.tsx";
import { Menu, MenuItem } from "./parts/menu.tsx";
import { Failure, Skeleton } from "./parts/states.tsx";
import { sayError } from "./parts/toast.tsx";
import { useResource } from "./resource.ts";
import { route } from "./router.ts";
import { NotFound } from "./screens/not-found.tsx";
import { currentSession, may, signOut } from "./session.ts";
import { ShortcutList } from "./shortcut-list.tsx";
import { useShortcuts } from "./shortcuts.ts";

/** How many parts of the path can follow the name of each screen. */
const MOST_PARTS: Readonly<Record<string, number>> = {
  inbox: 1,
  scheduled: 0,
  channels: 2,
  webhooks: 2,
  keys: 1,
  templates: 1,
  members: 0,
  statistics: 0,
  audit: 0,
  settings: 0,
};

interface OrganizationProps {
  id: string;
  /** The parts of the path after the organization. */
  parts: readonly string[];
}

/** The screens of one organization, with the menu beside them. */
export function OrganizationFrame({ id, parts }: OrganizationProps): JSX.Element {
  const organization = useResource(`organization ${id}`, async () => {
    return (await apiOf(id).GET("/organization")).organization;
  });
  const { data, error, reload } = organization;
  if (!data) {
    return <main class="lone">{error ? <Failure error={error} onRetry={reload} /> : <Skeleton rows={3} />}</main>;
  }
  const place: Place = {
    organization: data,
    set: organization.set,
    api: apiOf(id),
    to: (path) => addressIn(id, path),
  };
  return (
    <PlaceContext.Provider value={place}>
      <Frame place={place} parts={parts} />
    </PlaceContext.Provider>
  );
}

function Frame({ place, parts }: { place: Place; parts: readonly string[] }): JSX.Element {
  const [open, setOpen] = useState<"palette" | "keys" | null>(null);
  const entries = MENU.filter(({ permission }) => permission === null || may(permission));
  useShortcuts([
    { keys: "Ctrl K", label: "Find anything", run: () => setOpen("palette") },
    { keys: "?", label: "Show the keys", run: () => setOpen("keys") },
    ...entries.map(({ path, label, key }) => ({
      keys: `g ${key}`,
      label: `Go to ${label}`,
      run: () => route(place.to(path)),
    })),
  ]);
  useEffect(() => follow(place.organization.id).stop, [place.organization.id]);
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Sidebar
        place={place}
        entries={entries}
        current={parts[0]}
        onFind={() => setOpen("palette")}
        onKeys={() => setOpen("keys")}
      />
      <main id="main" class="main" tabIndex={-1}>
        {connection.value === "offline" && (
          <p class="offline" role="status">
            No connection. You see what was known at {timeOfDay(upToDateAt.value)}; what you write is kept here.
          </p>
        )}
        <Screen parts={parts} />
      </main>
      {open === "palette" && <Palette entries={entries} onClose={() => setOpen(null)} />}
      {open === "keys" && <ShortcutList onClose={() => setOpen(null)} />}
    </div>
  );
}

interface SidebarProps {
  place: Place;
  entries: MenuEntry[];
  /** The path of the open screen. */
  current: string | undefined;
  onFind: () => void;
  onKeys: () => void;
}

function Sidebar({ place, entries, current, onFind, onKeys }: SidebarProps): JSX.Element {
  const { organization, to } = place;
  const { type, member } = currentSession();
  useEffect(() => {
    // On a narrow page the menu is a row that scrolls.
    document.querySelector(".sidebar-link[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [current]);
  return (
    <nav class="sidebar" aria-label="Console">
      <div class="sidebar-head">
        <Avatar name={organization.name} />
        <strong class="sidebar-name">
          <bdi>{organization.name}</bdi>
        </strong>
      </div>
      <button type="button" class="find" onClick={onFind}>
        <Icon name="search" />
        <span class="sidebar-label">Find</span>
        <kbd>Ctrl K</kbd>
      </button>
      <ul class="sidebar-menu">
        {entries.map((entry) => (
          <li key={entry.path}>
            <a
              class="sidebar-link"
              href={to(entry.path)}
              aria-current={entry.path === current ? "page" : undefined}
              title={entry.label}
            >
              <Icon name={entry.icon} />
              <span class="sidebar-label">{entry.label}</span>
              {entry.path === "inbox" && unansweredCount.value !== "" && (
                <span class="count">
                  {unansweredCount.value} <span class="hidden">unanswered</span>
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
      <div class="sidebar-foot">
        <Menu
          up
          label="Your account"
          hasText
          buttonClass="account"
          button={
            <>
              <Avatar name={member?.name ?? "Operator"} />
              <span class="sidebar-label">
                <bdi>{member?.name ?? "Operator"}</bdi>
              </span>
            </>
          }
        >
          {(close) => (
            <>
              {type === "operator" && (
                <a class="menu-item" role="menuitem" href="/console/">
                  All organizations
                </a>
              )}
              <MenuItem
                onChoose={() => {
                  close();
                  onKeys();
                }}
              >
                Keyboard shortcuts
              </MenuItem>
              <a class="menu-item" role="menuitem" href="/docs" target="_blank" rel="noopener">
                Documentation
              </a>
              <MenuItem onChoose={() => void signOut().catch(sayError)}>Sign out</MenuItem>
            </>
          )}
        </Menu>
      </div>
    </nav>
  );
}

function Screen({ parts: [name, id, part, ...rest] }: { parts: readonly string[] }): JSX.Element {
  if (name === undefined) return <GoToInbox />;
  const most = MOST_PARTS[name];
  const count = [id, part, ...rest].filter((one) => one !== undefined).length;
  if (most === undefined || count > most) return <NotFound />;
  if (name === "inbox") return <Inbox chat={id} />;
  return <ManagementScreen key={name} name={name} id={id} part={part} />;
}

function GoToInbox(): JSX.Element {
  const { to } = usePlace();
  useEffect(() => route(to("inbox"), true), []);
  return <Skeleton rows={1} />;
}
