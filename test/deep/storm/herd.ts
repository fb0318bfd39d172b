import type { Answer } from "../../support/world/world.ts";
import type { Ground } from "./ground.ts";
import { Parley } from "./parley.ts";
import { atMost, type Force, type Row, until } from "./storm.ts";

const SENDS = 500;
/** The number of concurrent requests to `wrangler dev`. Its proxy loses some of a few hundred connections. */
const IN_FLIGHT = 100;
const KEY = { "Idempotency-Key": "order-7" };
const PATIENCE_MS = 60_000;

/** The results of one idempotency key in one chat. */
export interface Herd {
  answers: (Pick<Answer, "status" | "headers" | "body"> & { lost: number })[];
  /** The response to the same request after a kill. */
  later: Pick<Answer, "status" | "headers" | "body">;
  /** The responses to another body, before and after the kill. */
  others: Pick<Answer, "status" | "body">[];
  stored: number;
  delivered: number;
}

/** The same send many times at once with one key: one message, and replays of it. */
export async function herd({ rounds, random, log }: Force, { server, telegram }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const channel = await telegram.channel(parley);
  const addresses = Array.from({ length: rounds }, () => String(random.between(1e9, 9e9)));
  const herds = new Map<string, Omit<Herd, "later" | "stored" | "delivered"> & { address: string }>();
  const post = (chatId: string, content: string) =>
    parley.insist("POST", `/chats/${chatId}/messages`, { content }, KEY);
  for (const [at, address] of addresses.entries()) {
    const chatId = await parley.chat(channel.id, address);
    const answers = await atMost(
      IN_FLIGHT,
      Array.from({ length: SENDS }, () => () => post(chatId, "Hello")),
    );
    herds.set(chatId, { address, answers, others: [await post(chatId, "Bye")] });
    if ((at + 1) % 10 === 0) log(`  ${at + 1} chats`);
  }
  const faults = (await until(() => parley.isIdle([...herds.keys()]), PATIENCE_MS)) ? [] : ["messages still wait"];
  await server.kill().gone;
  await server.start();
  let lost = 0;
  for (const [chatId, { address, answers, others }] of herds) {
    lost += answers.reduce((sum, one) => sum + one.lost, 0);
    const later = await post(chatId, "Hello");
    others.push(await post(chatId, "Bye"));
    const { total } = await parley.messages(chatId);
    const delivered = telegram.heard.get(address)?.length ?? 0;
    const found = herdFaults({ answers, later, others, stored: total, delivered });
    faults.push(...found.map((fault) => `${address}: ${fault}`));
  }
  return [
    {
      test: "idempotency herd",
      howMany: `${rounds} chats × ${SENDS} sends of one key, ${IN_FLIGHT} at once, and one kill`,
      held: `one message and one delivery each, ${SENDS - 1} replays, other bodies refused, after the kill too; ${lost} calls lost and repeated`,
      faults,
    },
  ];
}

/** The faults in a key's results. A lost response may have been the one that was not a replay. */
export function herdFaults({ answers, later, others, stored, delivered }: Herd): string[] {
  const faults: string[] = [];
  const all = [...answers, later];
  const refused = all.filter(({ status }) => status !== 201);
  if (refused.length > 0) faults.push(`${refused.length} sends were answered ${refused[0]?.status}`);
  const ids = new Set(all.map(({ body }) => body.message?.id));
  if (ids.size !== 1) faults.push(`${ids.size} messages were answered`);
  const first = answers.filter((answer) => !isReplay(answer)).length;
  const least = answers.some(({ lost }) => lost > 0) ? 0 : 1;
  if (first < least || first > 1) faults.push(`${first} answers were no replay`);
  if (!isReplay(later)) faults.push("after the kill it was no replay");
  const taken = others.filter(({ status, body }) => status !== 422 || body.code !== "idempotency_mismatch");
  if (taken.length > 0) faults.push(`another body was answered ${taken[0]?.status}`);
  if (stored !== 1) faults.push(`${stored} messages are stored`);
  if (delivered !== 1) faults.push(`the network heard ${delivered}`);
  return faults;
}

function isReplay({ headers }: Pick<Answer, "headers">): boolean {
  return headers.get("Idempotent-Replayed") === "true";
}
