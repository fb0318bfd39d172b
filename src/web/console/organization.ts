import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { apiOf, type Channel, type Member, type Organization } from "./api.ts";
import type { Api } from "./api-client.ts";
import { type Resource, useResource } from "./resource.ts";

/** The organization whose screens are open. */
export interface Place {
  organization: Organization;
  /** Takes a change of the organization. */
  set: (organization: Organization) => void;
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
const PAGE = 100;

/** The organization's members. Null: the person may not see them. */
export function useMembers(): Resource<Member[]> {
  const { organization, api } = usePlace();
  return useResource(`members ${organization.id}`, async () => {
    return (await api.GET("/members", { query: { limit: PAGE } })).members;
  });
}

/** The organization's channels. */
export function useChannels(): Resource<Channel[]> {
  const { organization } = usePlace();
  return useResource(`channels ${organization.id}`, async () => {
    return (await apiOf(organization.id).GET("/channels", { query: { limit: PAGE } })).channels;
  });
}
