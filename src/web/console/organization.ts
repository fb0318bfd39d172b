import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Channel, Member, Organization } from "./api.ts";
import type { AnswerOf, Api, OptionsOf, Routes } from "./api-client.ts";
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

/** The address of an organization's screen. */
export function addressIn(organizationId: string, path: string): string {
  return `/console/o/${organizationId}/${path}`;
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

/** As many members as an organization can have, unless the operator has raised that. */
const MOST_MEMBERS = 1_000;

/** The organization's first 1,000 members; none while they load, or if the person may not see them. */
export function useMembers(): Member[] {
  const { organization, api } = usePlace();
  return useResource(`get /members ${organization.id}`, (signal) => loadMembers(api, signal)).data ?? [];
}

async function loadMembers(api: Api, signal: AbortSignal): Promise<Member[]> {
  const loaded: Member[] = [];
  for (let page = 1; loaded.length < MOST_MEMBERS; page++) {
    const { members, pagination } = await api.GET("/members", { query: { page, limit: MOST }, signal });
    loaded.push(...members);
    if (!pagination.hasMore) break;
  }
  return loaded;
}

/** The organization's channels; none while they load. */
export function useChannels(): Channel[] {
  return useGet("/channels", { query: { limit: MOST } }).data?.channels ?? [];
}
