import { ParleyError } from "../api.ts";
import { now } from "../parts/time.tsx";

/**
 * A time can pass while its dialog is open. The person is asked before the message is sent at once.
 * @param isWarned whether the dialog said that the time has passed
 */
export function requireFuture(time: number, isWarned: boolean): void {
  if (isWarned || time > Date.now()) return;
  now.value = Date.now();
  const message = "has passed meanwhile. Send now, or choose another time.";
  throw new ParleyError(message, { status: null, code: "past", errors: [{ path: "scheduledAt", message }] });
}
