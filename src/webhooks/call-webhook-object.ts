import { callObject } from "../platform/call-object.ts";

type WebhookStub = ReturnType<Env["WEBHOOKS"]["getByName"]>;

/** Calls the object of a webhook. */
export function callWebhookObject<R>(env: Env, id: string, call: (webhook: WebhookStub) => R): Promise<Awaited<R>> {
  return callObject(env.WEBHOOKS, id, (webhook) => call(webhook));
}
