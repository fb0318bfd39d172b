import { asc, eq, gt, sql } from "drizzle-orm";
import { answerWithin } from "../calls/call-object.ts";
import { callOrganization } from "../calls/call-organization.ts";
import { directory } from "../db/client.ts";
import { alarmNet, organizations } from "../db/schema.ts";
import { settleEach } from "../platform/concurrency.ts";
import { causeOf } from "../platform/log.ts";

/** A round over all organizations takes this many runs, one a minute, unless there are more than 75,000. */
const RUNS = 15;
/** The platform allows 10,000 calls in one run. */
const MAX_PAGE = 5_000;
/** The platform may start a run twice, and not in order. */
const SAME_RUN_MS = 30_000;
const CALL_TIMEOUT_MS = 10_000;

const ROW = 1;
const START = { at: 0, place: "", page: 0 };

/**
 * The net under all alarms: calls the objects of the next organizations, which make sure of their alarms and look for
 * what is overdue. The place is moved before the calls, and only from where this run found it, so that of two runs at
 * once one calls them. An organization that does not answer has its turn again in the next round.
 * @param startedAt the scheduled time of the cron trigger, Unix milliseconds
 * @throws if D1 does not answer
 */
export async function checkAlarms(env: Env, startedAt: number): Promise<void> {
  const db = directory(env);
  const last = (await db.select().from(alarmNet).where(eq(alarmNet.id, ROW)).get()) ?? START;
  if (Math.abs(startedAt - last.at) < SAME_RUN_MS) return;
  const page = last.place === "" ? pageOf(await db.$count(organizations)) : last.page;
  const found = await db
    .select({ id: organizations.id, region: organizations.region })
    .from(organizations)
    .where(gt(organizations.id, last.place))
    .orderBy(asc(organizations.id))
    .limit(page + 1);
  if (!found.length && last.place === "") return;
  const called = found.slice(0, page);
  const place = found.length > page ? (called.at(-1)?.id ?? "") : "";
  const next = { at: startedAt, place, page };
  const isUnmoved = sql`${alarmNet.at} = ${last.at} and ${alarmNet.place} = ${last.place}`;
  const moved = await db
    .insert(alarmNet)
    .values({ id: ROW, ...next })
    .onConflictDoUpdate({ target: alarmNet.id, set: next, setWhere: isUnmoved })
    .returning({ at: alarmNet.at });
  if (!moved.length) return;
  const failed = await settleEach(called, ({ id, region }) =>
    answerWithin(CALL_TIMEOUT_MS, () =>
      callOrganization(env, id, (organization) => organization.checkAlarms(), region),
    ),
  );
  const [first] = failed;
  if (first) console.warn({ event: "alarms_not_checked", organizations: failed.length, error: causeOf(first.error) });
}

function pageOf(organizations: number): number {
  return Math.min(MAX_PAGE, Math.ceil(organizations / RUNS));
}
