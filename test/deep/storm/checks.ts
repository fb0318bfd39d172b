import type { Message } from "./parley.ts";
import type { Said } from "./senders.ts";

/** A call that a network accepted, in the order of arrival. */
export interface Heard {
  content: string;
  /** The number of the server's start that made it. */
  life: number;
  at: number;
  /** When the service acknowledged a status of this call, or null. */
  toldAt: number | null;
}

/** The faults of a chat after a storm, given the responses that its clients got. */
export function logFaults(messages: Message[], total: number, said: Said[]): string[] {
  const faults: string[] = [];
  if (total !== messages.length) faults.push(`total is ${total}, there are ${messages.length} messages`);
  messages.forEach(({ seq }, at) => {
    if (seq !== at + 1) faults.push(`message ${at + 1} has seq ${seq}`);
  });
  const byContent = Map.groupBy(messages, ({ content }) => content);
  for (const { content, keyed, answer } of said) {
    const stored = byContent.get(content) ?? [];
    byContent.delete(content);
    const least = answer || keyed ? 1 : 0;
    if (stored.length < least) faults.push(`lost: ${content}`);
    if (stored.length > 1) faults.push(`stored ${stored.length} times: ${content}`);
    const isAsAnswered = stored.some(({ id, seq }) => id === answer?.id && seq === answer.seq);
    if (answer && stored.length > 0 && !isAsAnswered) faults.push(`stored otherwise than it was answered: ${content}`);
  }
  for (const content of byContent.keys()) faults.push(`nobody sent: ${content}`);
  for (const [sender, sent] of Map.groupBy(said, ({ sender }) => sender)) {
    const seqs = sent.flatMap(({ answer }) => answer?.seq ?? []);
    if (seqs.some((seq, at) => at > 0 && seq <= (seqs[at - 1] ?? 0))) faults.push(`out of order of sender ${sender}`);
  }
  return faults;
}

/** When a network can get a message twice: at most once per start of the server, and not within a minimum time. */
export interface Repeats {
  /** Whether a status that the service acknowledged forbids a second call. */
  statusForbids: boolean;
  /** The minimum time between two calls for the same message. */
  apartMs: number;
}

/** The faults in what a network received of a chat. */
export function wireFaults(messages: Message[], heard: Heard[], { statusForbids, apartMs }: Repeats): string[] {
  const faults: string[] = [];
  const seqOf = new Map(messages.map(({ content, seq }) => [content, seq]));
  let highest = 0;
  for (const { content } of heard) {
    const seq = seqOf.get(content);
    if (seq === undefined) faults.push(`the network heard what no chat has: ${content}`);
    else if (seq < highest) faults.push(`out of order at the network: ${seq} after ${highest}`);
    highest = Math.max(highest, seq ?? 0);
  }
  const byContent = Map.groupBy(heard, ({ content }) => content);
  for (const { content, status } of messages) {
    if (!byContent.has(content)) faults.push(`lost on its way: ${content}`);
    if (!["SENT", "DELIVERED", "READ"].includes(status)) faults.push(`ended as ${status}: ${content}`);
  }
  for (const [content, calls] of byContent) {
    for (const [at, call] of calls.entries()) {
      const before = calls[at - 1];
      if (!before) continue;
      if (before.life === call.life) faults.push(`twice without a kill between: ${content}`);
      if (call.at - before.at < apartMs) faults.push(`again after ${call.at - before.at} ms: ${content}`);
      const told = calls.slice(0, at).some(({ toldAt }) => toldAt !== null && toldAt < call.at);
      if (statusForbids && told) faults.push(`again after its status: ${content}`);
    }
  }
  return faults;
}

/** The number of calls to a network beyond one for each message. */
export function extras(heard: Heard[]): number {
  return heard.length - new Set(heard.map(({ content }) => content)).size;
}
