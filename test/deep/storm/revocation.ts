import { EventEmitter, once } from "node:events";
import { wanted } from "../../support/world/world.ts";
import type { Ground } from "./ground.ts";
import { Parley } from "./parley.ts";
import type { Force, Row } from "./storm.ts";

const CONNECTIONS = 8;
const CHANGES_A_ROUND = 50;
const OK = "let in";
const ELSEWHERE = ["203.0.113.7"];

interface Step {
  name: string;
  body: object | null;
  /** What the key's requests are answered from then on. */
  expects: string;
}

/** What an operator does to a key, in turn; the last one revokes it. */
const STEPS: Step[] = [
  { name: "narrowed", body: { permissions: ["chats:read"] }, expects: "403 permission_denied" },
  { name: "widened", body: { permissions: null }, expects: OK },
  { name: "bound to another address", body: { ipAllowlist: ELSEWHERE }, expects: "403 ip_not_allowed" },
  { name: "bound to no address", body: { ipAllowlist: null }, expects: OK },
  { name: "expired", body: { expiresAt: "2020-01-01T00:00:00Z" }, expects: "401 invalid_api_key" },
  { name: "renewed", body: { expiresAt: null }, expects: OK },
  { name: "revoked", body: null, expects: "401 invalid_api_key" },
];

/** A change of a key; times as of `performance.now()`: `done` is when the operator had the answer. */
export interface Change {
  name: string;
  begun: number;
  done: number;
  expects: string;
}

/** A request of the key. */
export interface Call {
  begun: number;
  ended: number;
  verdict: string;
}

/** Keys changed under busy connections: the first request begun after the operator's answer sees each change. */
export async function revocation({ rounds, log }: Force, { server }: Ground): Promise<Row[]> {
  const parley = await Parley.begin(server);
  const chatId = await parley.chat((await parley.channel("web")).id, "visitor");
  const faults: string[] = [];
  let [changed, calls, sent, lost] = [0, 0, 0, 0];
  while (changed < rounds * CHANGES_A_ROUND) {
    const steps = STEPS.slice(-Math.min(STEPS.length, rounds * CHANGES_A_ROUND - changed));
    // One for each key: an address that failed too often would be answered as that.
    const address = `198.18.${Math.floor(changed / 256)}.${changed % 256}`;
    const seen = await lifeOfKey(parley, chatId, steps, address);
    faults.push(...staleFaults(seen.changes, seen.calls));
    changed += steps.length;
    calls += seen.calls.length;
    sent += seen.sent;
    lost += seen.lost;
    if (changed % 100 < STEPS.length) log(`  ${changed} changes`);
  }
  const { total } = await parley.messages(chatId);
  // One that was lost may be stored or not.
  if (total < sent || total > sent + lost) faults.push(`${total} messages are stored, ${sent} sends were let in`);
  return [
    {
      test: "changed keys",
      howMany: `${changed} changes of ${Math.ceil(changed / STEPS.length)} keys, ${calls} requests by ${CONNECTIONS} connections`,
      held: `the first requests begun after the operator's answers saw each change; ${sent} sends let in, ${total} stored`,
      faults,
    },
  ];
}

/** Goes through the steps with a new key, each as soon as all connections had an answer after the last. */
async function lifeOfKey(parley: Parley, chatId: string, steps: Step[], address: string) {
  const { id, secret } = await parley.newKey();
  const key = parley.as(secret);
  const [calls, changes]: [Call[], Change[]] = [[], []];
  const path = `/chats/${chatId}/messages`;
  const from = { "CF-Connecting-IP": address };
  const said = new EventEmitter();
  let [sent, lost, isOver] = [0, 0, false];
  async function connection(nth: number): Promise<void> {
    while (!isOver) {
      const begun = performance.now();
      // Half of them read, which begins before the key is asked; half of them write.
      const { status, body } = await (nth % 2
        ? key.api("POST", path, { content: "Hello" }, from)
        : key.api("GET", path, undefined, from));
      sent += Number(status === 201);
      const verdict = status === 200 || status === 201 ? OK : `${status} ${body.code}`;
      if (status === 0) lost++;
      else calls.push({ begun, ended: performance.now(), verdict });
      said.emit(`answer ${nth}`, begun);
    }
  }
  const busy = Array.from({ length: CONNECTIONS }, (_, nth) => connection(nth));
  const afterward = (since: number) =>
    Promise.all(
      busy.map(async (_, nth) => {
        for (;;) if ((await once(said, `answer ${nth}`))[0] > since) return;
      }),
    );
  for (const { name, body, expects } of steps) {
    const begun = performance.now();
    wanted(200, await (body ? parley.admin("PATCH", `/keys/${id}`, body) : parley.admin("DELETE", `/keys/${id}`)));
    const done = performance.now();
    changes.push({ name, begun, done, expects });
    await afterward(done);
  }
  isOver = true;
  await Promise.all(busy);
  return { calls, changes, sent, lost };
}

/** The requests that began after a change was answered, ended before the next one began, and did not see it. */
export function staleFaults(changes: Change[], calls: Call[]): string[] {
  return changes.flatMap(({ name, done, expects }, at) => {
    const next = changes[at + 1]?.begun ?? Number.POSITIVE_INFINITY;
    const after = calls.filter(({ begun, ended }) => begun > done && ended < next);
    if (after.length === 0) return [`${name}: no request came after it`];
    return after
      .filter(({ verdict }) => verdict !== expects)
      .map(({ begun, verdict }) => `${name}: ${verdict}, ${Math.round(begun - done)} ms after it`);
  });
}
