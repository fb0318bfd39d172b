import * as z from "zod";
import { thinWebhookEventSchema, webhookEventSchema } from "./event-operations.ts";
import { examples } from "./examples.ts";
import { type Definitions, responseSchema } from "./json-schema.ts";

const HEADERS = {
  "webhook-id": ["The event's id. It is the same in each attempt", examples.event.id],
  "webhook-timestamp": ["When the call was signed, in Unix seconds", "1763632817"],
  "webhook-signature": [
    "One signature, or two during a rotation: `v1,` and base64, by Standard Webhooks",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ],
  "parley-webhook": ["The webhook's id", "whk_gN5cVr82KpZx0TdQ"],
  "parley-attempt": ["The number of the attempt, from 1", "1"],
  "parley-replay": ["The replay's id. Absent if the call is not part of a replay", "rpl_gV83kXo1mQzT0aYb"],
} as const;

/** The calls that the service makes to webhooks, in the form of OpenAPI's `webhooks`. */
export function webhookCalls(definitions: Definitions) {
  const body = z.union([webhookEventSchema, thinWebhookEventSchema]);
  return {
    event: {
      post: {
        operationId: "receiveEvent",
        tags: ["Webhooks"],
        summary: "Receive an event",
        description:
          "The service calls your webhook's URL with each event, in the order of the chat, at least once. Verify the signature with the raw body before you read it. Respond within 30 seconds. Ignore types that you don't know.",
        security: [],
        parameters: Object.entries(HEADERS).map(([name, [description, example]]) => ({
          name,
          in: "header",
          required: name !== "parley-replay",
          description: `${description}.`,
          schema: { type: "string" },
          example,
        })),
        requestBody: {
          description: "The event. With the payload `thin` it has ids and facts alone.",
          required: true,
          content: {
            "application/json": {
              schema: responseSchema(body, definitions),
              example: { ...examples.event, previous: 1 },
            },
          },
        },
        responses: {
          "2XX": { description: "The event is accepted. The body is ignored." },
          "410": { description: "The webhook is disabled at once." },
          default: { description: "The event is sent again, and later events of its chat wait." },
        },
      },
    },
  };
}
