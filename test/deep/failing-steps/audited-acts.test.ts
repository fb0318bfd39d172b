import { env } from "cloudflare:workers";
import { beforeEach, expect, test } from "vitest";
import { ACTION_NAMES, type AuditAction, actionSpec } from "../../../src/model/audit-action.ts";
import { ACTORS, ACTS, type Act, type Everything, everything, fakePlatforms } from "../../service/keys/audit-acts.ts";
import { workIsDone } from "../../support/alarms.ts";
import { type Answer, admin } from "../../support/harness.ts";
import { neverRing } from "../../support/timers.ts";
import { quietly } from "./fixtures.ts";
import { chatOnDisk, entriesOf, ring, rows } from "./looks.ts";
import { watchSteps } from "./steps.ts";

quietly();

beforeEach(() => {
  fakePlatforms();
  // An act waits two seconds for its entry. What comes later would be a step of the next try.
  neverRing(2_000);
});

/** The steps of the audit log itself. After one of them an entry may lack its status. */
const OF_LOG = /beginAct|endAct|storeActs|audit|alarm/i;

/** Its entry follows it; `creations.test.ts` makes its steps fail. */
const WITHOUT_LOG: AuditAction = "organization.create";

/** After these, the next try needs resources of its own. */
const isFinal = (action: AuditAction) => /delete|revoke|redact|disable/.test(action);

type Request = () => Promise<Answer | null>;

/** The request of an act. Null: an export broke off after its status. */
async function requestOf({ action, method, request, actors }: Act, ids: Everything): Promise<Request> {
  const actor = actors.includes("key") ? "key" : "operator";
  const { client, pathOf } = ACTORS[actor];
  const [path, body] = await request(ids);
  // What making it began, such as an attempt of a webhook, is no step of the act.
  for (const object of [env.CHATS.getByName(ids.chatId), env.WEBHOOKS.getByName(ids.webhookId)])
    await workIsDone(object);
  return async () => {
    try {
      return await client(ids)(method, pathOf(path), body);
    } catch (error) {
      if (action.endsWith(".export")) return null;
      throw error;
    }
  };
}

/** The log is told what waits for it: by a list of it, and by the alarm of the webhook. */
async function tellWaiting({ organizationId, webhookId }: Everything): Promise<void> {
  await ring(env.WEBHOOKS.getByName(webhookId));
  expect((await admin("GET", `/organizations/${organizationId}/audit`)).status).toBe(200);
}

/** What is stored of an organization's resources. */
async function stored({ organizationId, chatId }: Everything): Promise<string> {
  const tables = ["members", "channels", "templates", "replies", "api_keys", "webhooks"];
  const lists = await Promise.all(tables.map((table) => rows(table, "organization_id = ?", organizationId)));
  const organization = await rows("organizations", "id = ?", organizationId);
  return JSON.stringify([organization, lists, (await chatOnDisk(chatId)).messages]);
}

/** What is wrong with the entries of a request; null if nothing is. */
async function wrongEntries(
  { action, method }: Act,
  ids: Everything,
  { answer, before, known, step }: { answer: Answer | null; before: string; known: Set<string>; step: string },
): Promise<string | null> {
  const entries = (await entriesOf(ids.organizationId)).filter(({ request_id: id }) => !known.has(id));
  const [entry] = entries;
  if (entries.length > 1) return "more than one entry";
  if (!entry) {
    // The log goes with its organization.
    if (action === "organization.delete") return null;
    const isUndone = (await stored(ids)) === before;
    return isUndone && (answer?.status ?? 0) >= 500 ? null : `${answer?.status} without an entry`;
  }
  if (entry.action !== action) return `an entry of ${entry.action}`;
  if (!answer || entry.status === answer.status) return null;
  if (entry.status !== null) return `the status ${entry.status} in the entry of a ${answer.status}`;
  // The status of a read is stored after its response.
  return method === "GET" || OF_LOG.test(step) ? null : "no status, though the act ended";
}

const ACTS_WITH_LOG = ACTS.filter(({ action }) => action !== WITHOUT_LOG);

test.each(ACTS_WITH_LOG.map((act) => [act.action, act] as const))(
  "%s is never done without an entry, and the entry has the status, whichever step fails",
  async (action, act) => {
    const first = await everything();
    const run = await requestOf(act, first);
    const undisturbed = await watchSteps();
    const answer = await run().finally(undisturbed.end);
    expect(answer?.status, answer?.text).toBeLessThan(300);
    const steps = undisturbed.steps.filter(({ nth }) => nth === 1);
    const { stops } = actionSpec(action);
    expect(steps.map(({ name }) => name)).toContain(stops ? "ORGANIZATIONS.storeActs" : "ORGANIZATIONS.beginAct");
    const faults: string[] = [];
    let reached = 0;
    let ids = first;
    for (const [number, step] of steps.entries()) {
      if (isFinal(action) || number === 0) ids = await everything();
      const retried = await requestOf(act, ids);
      const before = await stored(ids);
      const known = new Set((await entriesOf(ids.organizationId)).map(({ request_id: id }) => id));
      const watch = await watchSteps({ ...step, failure: "unmade" });
      const failed = await retried().finally(watch.end);
      if (stops) await tellWaiting(ids);
      // What an object remembers of the tries before is not read again.
      if (!watch.reached()) continue;
      reached++;
      const wrong = await wrongEntries(act, ids, { answer: failed, before, known, step: step.name });
      if (wrong) faults.push(`${step.name}: ${wrong}`);
    }
    expect(faults).toEqual([]);
    expect(reached).toBeGreaterThan(steps.length / 3);
  },
);

test("each action has a case", () => {
  // What members alone do is simple, and tested with the service.
  const others = ACTION_NAMES.filter((action) => actionSpec(action).needs !== null);
  expect([...new Set([...ACTS_WITH_LOG.map(({ action }) => action), WITHOUT_LOG])].sort()).toEqual(others.sort());
});
