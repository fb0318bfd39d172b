import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../../../src/index.ts";
import { workIsDone } from "../../support/alarms.ts";

/** Runs the cron trigger of a minute, as the platform does. */
export async function runCron(at = Date.now()): Promise<void> {
  const controller = createScheduledController({ scheduledTime: new Date(at), cron: "* * * * *" });
  await worker.scheduled(controller, env);
}

/** Calls an organization's object as the cron trigger does, and waits until it has called all that it calls. */
export async function checkOf(organizationId: string): Promise<void> {
  const object = env.ORGANIZATIONS.getByName(organizationId);
  await object.checkAlarms();
  await workIsDone(object);
}
