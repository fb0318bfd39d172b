import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { apiOf } from "./api.ts";
import { timeOfDay } from "./format.ts";
import { Inbox } from "./inbox/inbox.tsx";
import { connection, followChanges, unansweredCount, upToDateAt } from "./inbox/live.ts";
import { fetchScreens, Lazy, LazyDialog, LazyExtra } from "./lazy.tsx";
import { currentPath, route } from "./location.ts";
import { MENU, type MenuEntry } from "./menu-entries.ts";
import { notifications, Offer } from "./notifications/offer.tsx";
import { addressBeside, addressIn, type Place, PlaceContext } from "./organization.ts";
import { Avatar } from "./parts/badge.tsx";
import { Button } from "./parts/button.tsx";
import { Icon } from "./parts/icon.tsx";
import { Menu, MenuItem } from "./parts/menu.tsx";
import { Elsewhere } from "./parts/not-found.tsx";
import { OpenedDialog, openDialog } from "./parts/opened-dialog.tsx";
import { NotPermitted } from "./parts/screen.tsx";
import { Failure, Skeleton } from "./parts/states.tsx";
import { sayError } from "./parts/toast.tsx";
import { useResource } from "./resource.ts";
import { currentSession, may, signOut } from "./session.ts";
import { useShortcuts } from "./shortcuts.ts";

/** The screen is drawn first. */
const FETCH_AFTER_MS = 1_000;

/** How long the connection is lost before the page says so. */
const OFFLINE_AFTER_MS = 2_000;

/** How many entries of the menu fit on the bar of a phone. */
const ON_BAR = 2;

/** The screens of one organization, with the menu beside them. */
export function OrganizationFrame({ id, parts }: { id: string; parts: string[] }) {
  const read = async () => (await apiOf(id).GET("/organization")).organization;
  const organization = useResource(`organization ${id}`, read);
  const { data, error, reload, set, refresh } = organization;
  if (!data && error?.status === 404) return <Elsewhere />;
  if (!data) {
    return <main class="lone">{error ? <Failure error={error} onRetry={reload} /> : <Skeleton rows={3} />}</main>;
  }
  const place: Place = {
    organization: data,
    set,
    refresh,
    api: apiOf(id),
    to: (path) => addressBeside(id, path),
  };
  return (
    <PlaceContext.Provider value={place}>
      <Frame place={place} parts={parts} />
    </PlaceContext.Provider>
  );
}

function Frame({ place, parts }: { place: Place; parts: string[] }) {
  const entries = MENU.filter(({ permission }) => permission === undefined || may(permission));
  const isOpen = ({ path }: MenuEntry) => currentPath.value.startsWith(addressIn(place.organization.id, path));
  const refused = MENU.find((entry) => !entries.includes(entry) && isOpen(entry));
  const find = () => openDialog(<LazyDialog>{({ Palette }) => <Palette entries={entries} />}</LazyDialog>);
  const choose = () => openDialog(notifications);
  const showKeys = () => openDialog(<LazyDialog>{({ ShortcutList }) => <ShortcutList />}</LazyDialog>);
  useShortcuts([
    { keys: "Ctrl K", label: "Find anything", run: find },
    { keys: "?", label: "Show these shortcuts", run: showKeys },
    { keys: "b", label: "Choose notifications", run: choose },
    ...entries.map(({ path, label, key }) => ({
      keys: `g ${key}`,
      label: `Go to ${label}`,
      run: () => route(place.to(path)),
    })),
  ]);
  useEffect(() => followChanges(place.organization.id).stop, [place.organization.id]);
  useEffect(() => {
    const timer = setTimeout(fetchScreens, FETCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Sidebar place={place} entries={entries} isOpen={isOpen} onFind={find} onKeys={showKeys} />
      <main id="main" class="main" tabIndex={-1}>
        {connection.value === "offline" && <OfflineBanner />}
        <Offer />
        <LazyExtra>{({ Banners }) => <Banners />}</LazyExtra>
        {refused?.permission ? (
          <NotPermitted permission={refused.permission} title={refused.label} />
        ) : (
          <OpenScreen parts={parts} />
        )}
      </main>
      <OpenedDialog />
    </div>
  );
}

/** Nothing at first: a stream that is replaced at once must not move the page under somebody's pointer. */
function OfflineBanner() {
  const isShown = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => (isShown.value = true), OFFLINE_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    isShown.value && (
      <p class="banner tone-warn" role="status">
        No connection. Last update: {timeOfDay(upToDateAt.value)}. What you wrote is kept.
      </p>
    )
  );
}

function OpenScreen({ parts }: { parts: string[] }) {
  const [name, id, ...rest] = parts;
  if (name === "inbox" && rest.length === 0) return <Inbox id={id} />;
  return <Lazy key={name}>{({ OrganizationScreen }) => <OrganizationScreen parts={parts} />}</Lazy>;
}

interface SidebarProps {
  place: Place;
  entries: MenuEntry[];
  isOpen: (entry: MenuEntry) => boolean;
  onFind: () => void;
  onKeys: () => void;
}

function Sidebar({ place, entries, isOpen, onFind, onKeys }: SidebarProps) {
  const { organization, to } = place;
  const { type, member } = currentSession();
  return (
    <nav class="sidebar" aria-label="Console">
      <div class="sidebar-head">
        <Avatar name={organization.name} />
        <strong class="sidebar-label clip" dir="auto">
          {organization.name}
        </strong>
      </div>
      <Button class="item find" onClick={onFind}>
        <Icon name="search" />
        <span class="sidebar-label">Find</span>
        <kbd class="end">Ctrl K</kbd>
      </Button>
      <ul class="sidebar-menu">
        {entries.map((entry) => {
          const isCurrent = isOpen(entry);
          return (
            <li key={entry.path}>
              <a
                class="item sidebar-link"
                href={to(entry.path)}
                aria-current={isCurrent ? "page" : undefined}
                title={entry.label}
              >
                <Icon name={entry.icon} />
                <span class="sidebar-label">{entry.label}</span>
                {entry.path === "inbox" && unansweredCount.value !== "" && (
                  <span class="count end">
                    {unansweredCount.value} <span class="hidden">unanswered</span>
                  </span>
                )}
              </a>
            </li>
          );
        })}
      </ul>
      <div class="sidebar-foot">
        <Menu
          up
          label="Your account"
          hasText
          buttonClass="item account"
          button={
            <>
              <span class="on-wide line">
                <Avatar name={member?.name ?? "Operator"} />
                <span class="sidebar-label">
                  <bdi>{member?.name ?? "Operator"}</bdi>
                </span>
              </span>
              <span class="on-phone">
                <Icon name="more" />
                <span class="sidebar-label">More</span>
              </span>
            </>
          }
        >
          {entries.slice(ON_BAR).map(({ path: screen, label }) => (
            <a key={screen} class="item on-phone" role="menuitem" href={to(screen)}>
              {label}
            </a>
          ))}
          {type === "operator" && (
            <a class="item" role="menuitem" href="/console/">
              All organizations
            </a>
          )}
          {member && (
            <a class="item" role="menuitem" href={to("settings")}>
              Your passkeys
            </a>
          )}
          <MenuItem opens={notifications}>Notifications</MenuItem>
          <MenuItem onChoose={onKeys}>Keyboard shortcuts</MenuItem>
          <a class="item" role="menuitem" href="/docs" target="_blank" rel="noopener">
            Documentation
          </a>
          <MenuItem onChoose={() => void signOut().catch(sayError)}>Sign out</MenuItem>
        </Menu>
      </div>
    </nav>
  );
}
