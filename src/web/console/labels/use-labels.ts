import { signal } from "@preact/signals";
import type { Schemas } from "../api.ts";
import { usePlace } from "../organization.ts";
import { type Resource, useResource } from "../resource.ts";

export type Label = Schemas["Label"];

/** Counts the changes of labels, so that all of the page shows them. */
const changes = signal(0);

/** All labels of the organization, oldest first. */
export function useLabels(): Resource<Label[]> {
  const { organization, api } = usePlace();
  const load = async (signal: AbortSignal) => (await api.GET("/labels", { signal })).labels;
  return useResource(`get /labels ${organization.id}`, load, String(changes.value));
}

/** Labels were changed here. */
export function labelsChanged(): void {
  changes.value++;
}
