import { effect, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Channel, Member, Organization } from "./api.ts";
import type { AnswerOf, Api, OptionsOf, Routes } from "./api-client.ts";
import { currentPath, currentQuery } from "./location.ts";
import { type Resource, useResource } from "./resource.ts";

/** The organization whose screens are open. */
export interface Place {
  organization: Organization;
  /** Takes a change of the organization. */
  set: (organization: Organization) => void;
  /** Reads the organization as it is now: somebody else may have changed its settings. */
  refresh: () => Promise<Organization>;
  api: Api;
  /** The address of one of its screens. */
  to: (path: string) => string;
}

export const PlaceContext = createContext<Place | null>(null);

/** The organization of the screen. @throws Error outside an organization */
export function usePlace(): Place {
  const place = useContext(PlaceContext);
  if (!place) throw new Error("This screen belongs to no organization");
  return place;
}

/** The query of each organization's inbox as it was last open, which is its filter. */
const inboxQueries = signal<Readonly<Record<string, string>>>({});
effect(() => {
  const [, id] = /^\/console\/o\/([^/]+)\/inbox/.exec(currentPath.value) ?? [];
  const query = currentQuery.value;
  if (id !== undefined) inboxQueries.value = { ...inboxQueries.peek(), [id]: query };
});

export function addressIn(organizationId: string, path: string): string {
  return `/console/o/${organizationId}/${path}`;
}

/** The address of another screen of the open organization. The inbox keeps its filter meanwhile. */
export function addressBeside(organizationId: string, path: string): string {
  return addressIn(organizationId, path) + (path.startsWith("inbox") ? (inboxQueries.value[organizationId] ?? "") : "");
}

/** The most rows that a list answers at once. */
export const MOST = 100;

/** Loads a route of the organization. @param route null loads nothing */
export function useGet<R extends Routes<"get">>(
  route: R | null,
  ...[options]: OptionsOf<"get", R>
): Resource<AnswerOf<"get", R>> {
  const { organization, api } = usePlace();
  const get = api.GET as (route: R | null, options: object) => Promise<AnswerOf<"get", R>>;
  const key = route && `get ${route} ${organization.id} ${JSON.stringify(options)}`;
  return useResource(key, (signal) => get(route, { ...options, signal }));
}

interface Listed {
  members: Member;
  channels: Channel;
}

/** As many rows as a list can have, unless the operator has raised that. */
const MOST_ROWS = 1_000;

/** Loads a list, page by page, up to 1,000 rows. @param name null loads nothing */
export function useAll<Name extends keyof Listed>(name: Name | null): Resource<Listed[Name][]> {
  const { organization, api } = usePlace();
  const get = api.GET as (
    route: string,
    options: object,
  ) => Promise<Record<Name, Listed[Name][]> & { pagination: { hasMore: boolean } }>;
  return useResource(name && `get /${name} ${organization.id} all`, async (signal) => {
    const rows: Listed[Name][] = [];
    for (let page = 1; rows.length < MOST_ROWS; page++) {
      const answer = await get(`/${name}`, { query: { limit: MOST, page }, signal });
      rows.push(...answer[name as Name]);
      if (!answer.pagination.hasMore) break;
    }
    return rows;
  });
}

/** The organization's members; none while they load, or if the person may not see them. */
export function useMembers(): Member[] {
  return useAll("members").data ?? [];
}

/** Members by name, for a list to choose from. */
export function byName<One extends Pick<Member, "name">>(members: readonly One[]): One[] {
  return members.toSorted((one, other) => one.name.localeCompare(other.name));
}

/** The organization's channels; none while they load. */
export function useChannels(): Channel[] {
  return useAll("channels").data ?? [];
}
