import type { PartRefusal } from "../../model/network.ts";

/** The network may have accepted what was sent. */
export function unanswered(signal: AbortSignal): PartRefusal {
  const message = signal.aborted
    ? "The network did not answer in time"
    : "The connection was lost before the network answered";
  return { outcome: "unknown", message };
}

/** The network has certainly accepted nothing, and may accept it later. */
export function notAccepted(code: string, message: string): PartRefusal {
  return { outcome: "retry", code, message, afterMs: null, wholeChannel: false };
}
