import type { ReceivedCall } from "../../support/webhook-receiver.ts";
import type { ChatEvent, Message } from "./parley.ts";

/** The faults of a chat's events, given its messages. */
export function eventFaults(events: ChatEvent[], messages: Message[]): string[] {
  const faults: string[] = [];
  if (events.some(({ number }, at) => number !== at + 1)) faults.push("the events' numbers have a gap");
  if (events[0]?.type !== "chat.created") faults.push(`the first event is ${events[0]?.type}`);
  const stored = events.filter(({ type }) => type === "message.created" || type === "message.received");
  const told = stored.map(({ data }) => `${data.seq} ${data.messageId}`);
  const wanted = messages.map(({ seq, id }) => `${seq} ${id}`);
  if (told.join() !== wanted.join()) faults.push(`${told.length} events tell of ${wanted.length} messages`);
  return faults;
}

/**
 * The faults in the calls of one webhook about one chat.
 * @param events the chat's events that the webhook gets
 */
export function callFaults(events: ChatEvent[], calls: ReceivedCall[]): string[] {
  const faults: string[] = [];
  let next = 0;
  let acceptedIn = 0;
  /** Lives in which an event was accepted without the service learning that. */
  const unlearned = new Set<number>();
  for (const { event, status, life } of calls) {
    const isRepeat = next > 0 && event.number === events[next - 1]?.number;
    const at = isRepeat ? next - 1 : next;
    const known = events[at];
    if (event.number !== known?.number) {
      faults.push(`event ${event.number} came when ${events[next]?.number ?? "none"} was due`);
      continue;
    }
    if (event.id !== known.id) faults.push(`event ${event.number} came as ${event.id}`);
    const previous = events[at - 1]?.number ?? null;
    if (event.previous !== previous) {
      faults.push(`event ${event.number} came after ${event.previous}, instead of ${previous}`);
    }
    if (isRepeat) {
      if (life === acceptedIn) faults.push(`event ${event.number} was repeated without a kill between`);
      else if (unlearned.has(acceptedIn)) faults.push(`event ${event.number} is the second repeat for one kill`);
      unlearned.add(acceptedIn);
    }
    if (status < 200 || status > 299) continue;
    acceptedIn = life;
    if (!isRepeat) next++;
  }
  if (next < events.length) faults.push(`${events.length - next} events did not come, from ${events[next]?.number} on`);
  return faults;
}

/** The faults in what a reader of the feed saw of a chat, in order. Repeats are none. */
export function feedFaults(events: ChatEvent[], seen: Pick<ChatEvent, "number" | "id">[]): string[] {
  const faults: string[] = [];
  const firsts = [...new Set(seen.map(({ number }) => number))];
  const missing = events.filter(({ number }) => !firsts.includes(number));
  if (missing.length > 0) faults.push(`${missing.length} events are missing, from ${missing[0]?.number} on`);
  if (firsts.some((number, at) => at > 0 && number < (firsts[at - 1] ?? 0))) faults.push("events came out of order");
  const ids = new Map(events.map(({ number, id }) => [number, id]));
  const wrong = seen.find(({ number, id }) => ids.get(number) !== id);
  if (wrong) faults.push(`event ${wrong.number} came as ${wrong.id}`);
  return faults;
}

/** The number of calls that a receiver had accepted before. */
export function repeats(calls: ReceivedCall[]): number {
  const accepted = calls.filter(({ status }) => status >= 200 && status < 300);
  return accepted.length - new Set(accepted.map(({ event }) => event.id)).size;
}
