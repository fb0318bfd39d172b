import { createContext } from "preact";
import { useContext, useEffect } from "preact/hooks";
import type { ParleyError } from "../api.ts";

export type Fault = ParleyError["errors"][number];

/** What the service refused of a form, and the paths whose faults its fields show. */
interface FormFaults {
  faults: readonly Fault[];
  shown: Set<string>;
}

export const FormFaultsContext = createContext<FormFaults>({ faults: [], shown: new Set() });

/**
 * The faults that the service found in a field. The form does not repeat them.
 * @param path the field in the request: `contact.address`
 */
export function useFaults(path: string | undefined): Fault[] {
  const { faults, shown } = useContext(FormFaultsContext);
  // Not while it draws: the form says what no field shows before its fields are drawn again.
  useEffect(() => {
    if (path === undefined) return;
    shown.add(path);
    return () => shown.delete(path);
  }, [shown, path]);
  return path === undefined ? [] : faults.filter((fault) => isBelow(fault, path));
}

/** The faults that no field shows. */
export function otherFaults({ faults, shown }: FormFaults): Fault[] {
  return faults.filter((fault) => ![...shown].some((path) => isBelow(fault, path)));
}

/** What the service says of a field, as a sentence below it: "must be set" becomes "Must be set." */
export function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? "" : "."}`;
}

function isBelow({ path: found }: Fault, path: string): boolean {
  return found === path || found.startsWith(`${path}.`);
}
