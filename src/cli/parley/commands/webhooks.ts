import { CommandError } from "../../command-error.ts";
import { command, flag, option } from "../command.ts";
import type { Output } from "../output.ts";
import { rotation } from "../resource.ts";
import type { JsonObject } from "../service.ts";

const OF_CALL = { NUMBER: "number", OUTCOME: "outcome", STATUS: "httpStatus", MS: "durationMs", MESSAGE: "message" };

/** The other actions on webhooks, besides those of every resource. */
export const webhookCommands = [
  rotation("webhook", {
    about: "Create a new signing secret for a webhook; it is shown only once",
    details:
      "Until the overlap ends, each call has two signatures: one with each secret. Replace the secret in this time.",
    overlap: "How long the old secret signs calls too; 86400 by default",
  }),
  command({
    name: "webhooks ping",
    about: "Call a webhook with a test event, and show its answer",
    details: "Exits with 1 unless the answer is 2xx.",
    operands: ["webhook"],
    options: { type: option("type", "Send a sample of this type; ping by default") },
    async run({ operands, options: { type }, service, out }) {
      const request = { body: { type }, optionOf: { type: "--type" } };
      const { body } = await service.asOperatorOrClient("POST", `/webhooks/${operands.webhook}/ping`, request);
      out.record(body, body.attempt);
      return (body.attempt as { outcome?: unknown } | undefined)?.outcome === "accepted" ? 0 : 1;
    },
  }),
  command({
    name: "webhooks enable",
    about: "Enable a disabled webhook; it continues where it stopped",
    operands: ["webhook"],
    options: {
      from: option("pending|now", "pending: send the waiting events; now: drop them. pending by default"),
    },
    async run({ operands, options: { from }, service, out }) {
      const request = { body: { from }, optionOf: { from: "--from" } };
      const { body } = await service.asOperatorOrClient("POST", `/webhooks/${operands.webhook}/enable`, request);
      out.record(body, body.webhook);
    },
  }),
  command({
    name: "webhooks disable",
    about: "Stop calling a webhook; its events wait until it is enabled",
    operands: ["webhook"],
    call: ({ operands: { webhook }, service }) =>
      service.asOperatorOrClient("POST", `/webhooks/${webhook}/disable`, { body: {} }),
    shows: "webhook",
  }),
  command({
    name: "webhooks attempts",
    about: "List a webhook's last calls, newest first",
    operands: ["webhook"],
    options: {
      outcome: option("outcome", "Only accepted, retry or given_up"),
      chat: option("cht_…", "Only the calls of one chat"),
      before: option("cursor", "Continue a list: the cursor of its last page"),
      limit: option("n", "Rows on a page, 1 to 100; 20 by default"),
    },
    async run({ operands, options: { outcome, chat, before, limit }, service, out }) {
      const { body } = await service.asOperatorOrClient("GET", `/webhooks/${operands.webhook}/attempts`, {
        query: { outcome, chat, before, limit },
      });
      out.list(body, "attempts", { WHEN: "startedAt", EVENT: "eventId", CHAT: "chatId", ...OF_CALL });
      out.tellCursor(body, "--before");
    },
  }),
  command({
    name: "webhooks chat",
    about: "Show a chat's pending events for a webhook, and the last calls",
    operands: ["webhook", "chat"],
    async run({ operands: { webhook, chat }, service, out }) {
      const { body } = await service.asOperatorOrClient("GET", `/webhooks/${webhook}/chats/${chat}`);
      showSubscription(body, out);
    },
  }),
  command({
    name: "webhooks retry",
    about: "Try all events that wait for a webhook now, or only those of a chat",
    operands: ["webhook", "[chat]"],
    async run({ operands: { webhook, chat }, service, out }) {
      const one = chat ? `/webhooks/${webhook}/chats/${chat}` : `/webhooks/${webhook}`;
      const { body } = await service.asOperatorOrClient("POST", `${one}/retry`);
      if (chat) showSubscription(body, out);
      else out.record(body, body.webhook);
    },
  }),
  command({
    name: "webhooks skip",
    about: "Skip the event that blocks a chat, so that the next ones are sent",
    details: "parley webhooks chat shows the event as head. It can be replayed later.",
    operands: ["webhook", "chat", "event"],
    async run({ operands: { webhook, chat, event: eventId }, service, out }) {
      const request = { body: { eventId } };
      const { body } = await service.asOperatorOrClient("POST", `/webhooks/${webhook}/chats/${chat}/skip`, request);
      showSubscription(body, out);
    },
  }),
  command({
    name: "webhooks replay",
    about: "Send events to a webhook again, or show a replay's progress",
    details: `Choose the events with --event, --failed or --since. Without them, name a replay to see how many events it found and
sent.`,
    operands: ["webhook", "[replay]"],
    options: {
      event: option("evt_…", "One event"),
      failed: flag("All events that were given up"),
      since: option("time", "All events since this time, for example 2026-11-20T00:00:00Z"),
      until: option("time", "With --since: all events until this time"),
    },
    async run({ operands: { webhook, replay }, options: { event, failed, since, until }, service, out }) {
      const path = `/webhooks/${webhook}/replays`;
      const isChosen = [event, failed, since].some((each) => each !== undefined);
      if (isChosen === (replay !== undefined)) {
        throw new CommandError("Choose --event, --failed or --since, or name a replay that was started.", 2);
      }
      const optionOf = { eventId: "--event", since: "--since", until: "--until" };
      const { body } = replay
        ? await service.asOperatorOrClient("GET", `${path}/${replay}`)
        : await service.asOperatorOrClient("POST", path, { body: { eventId: event, failed, since, until }, optionOf });
      out.record(body, body.replay);
      const { id } = (body.replay ?? {}) as { id?: string };
      if (!replay && !out.json) out.note(`parley webhooks replay ${webhook} ${id} shows its progress.`);
    },
  }),
];

/** Shows what a chat sends to a webhook, with its last attempts as a table. */
function showSubscription(body: JsonObject, out: Output): void {
  const { attempts, ...subscription } = body;
  out.record(body, subscription);
  if (out.json) return;
  out.list({ attempts }, "attempts", { WHEN: "startedAt", EVENT: "eventId", ...OF_CALL, RESPONSE: "response" });
}
