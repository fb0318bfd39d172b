import * as z from "zod";
import { RENDERINGS } from "../model/content.ts";
import { FORWARDED, ORIGINS, SUBMISSIONS } from "../model/received.ts";
import {
  count,
  groupIfSet,
  groups,
  groupsIfSet,
  oneOf,
  text,
  textIfSet,
  textOrNull,
  time,
  timeIfSet,
} from "./typed-schema.ts";

/** The fields of a message that say more than text and media. Each is absent if the message has none. */

const title = text("What the contact reads");

const choices = z
  .array(
    z.discriminatedUnion("type", [
      z.object({
        type: z.literal("reply"),
        id: text("The company's own id. It comes back in the `choice` of the contact's tap"),
        title,
        description: textIfSet("A line below the title"),
        section: textIfSet("The section of the list that it belongs to"),
      }),
      z.object({ type: z.literal("link"), title, url: text("The page that it opens") }),
      z.object({ type: z.literal("location"), title }),
    ]),
  )
  .describe("The choices, all of one type");

const interactive = groupIfSet("The choices that the contact can tap", {
  choices,
  header: textIfSet("A line above the text"),
  footer: textIfSet("A line below the text"),
  menuTitle: textIfSet("The label of the button that opens a list"),
  rendering: oneOf(
    RENDERINGS,
    "How the channel shows the choices. Decided when the message was accepted. `keyboard`: in place of the contact's keyboard. `text`: as lines of the text",
  ),
});

const location = groupIfSet("A place", {
  latitude: z.number().describe("In degrees, from -90 to 90"),
  longitude: z.number().describe("In degrees, from -180 to 180"),
  name: textIfSet("The name of the place"),
  address: textIfSet("The address of the place"),
});

const contacts = groupsIfSet("Contact cards", {
  name: text("The person's name"),
  phones: z.array(z.string()).describe("The person's phone numbers, as the sender wrote them"),
});

const json = (what: string) => z.record(z.string(), z.unknown()).describe(what);
const cut = z.literal(true).optional().describe("Set if it was longer than 8 KiB as JSON. What is missing is its end");

/** What networks report beside text and media. */
const receivedFields = {
  form: groupIfSet(
    "The contact's answers to a form. They are the contact's words, and can be forged. `content` has them as lines",
    {
      name: textOrNull("The kind of form, such as `flow`. Which form it is: the message that it replies to"),
      answers: json("The answers, as the form names them. `{ text }` if they are not a JSON object"),
      cut,
    },
  ),
  order: groupIfSet("What the contact ordered from a catalog", {
    catalogId: textOrNull("The catalog's id"),
    items: groups("The products", {
      productId: textOrNull("The company's own id of the product"),
      quantity: z.number().nullable().describe("How many"),
      price: textOrNull("The price of one, a decimal number"),
      currency: textOrNull("Its currency, such as `EUR`"),
    }),
    cut,
  }),
  product: groupIfSet("The product that the message is about", {
    catalogId: textOrNull("The catalog's id"),
    productId: textOrNull("The company's own id of the product"),
    cut,
  }),
  referral: groupIfSet("The ad or the post that led the contact to the chat", {
    type: textOrNull("`ad` or `post`"),
    id: textOrNull("Its id at the network"),
    url: textOrNull("Its address"),
    headline: textOrNull("Its headline"),
    text: textOrNull("Its text"),
    clickId: textOrNull("The id of the click"),
    ref: textOrNull("What the link says for you"),
    cut,
  }),
  submitted: groupIfSet("What the contact's app handed over. It can be forged", {
    kind: oneOf(SUBMISSIONS, "What it is: data of a mini app, a payment, shared users, a shared chat"),
    data: json("The data, with the network's own names. `refunded: true` if a payment was given back"),
    cut,
  }),
  author: groupIfSet("Who wrote in a group", {
    id: text("The person's id. For an administrator who writes as the group, the group's"),
    name: textOrNull("The person's name"),
    cut,
  }),
  voice: z
    .boolean()
    .optional()
    .describe(
      "Whether it is a voice note. False: it was to be one, and was sent as audio. Absent: it is something else",
    ),
  standby: z
    .literal(true)
    .optional()
    .describe(
      "The contact wrote it while the network's own agent had the conversation. It doesn't make the chat unanswered until the agent gives the conversation back",
    ),
  forwarded: z.enum(FORWARDED).optional().describe("The contact forwarded it. `many`: it was forwarded many times"),
  networkTime: timeIfSet("When it was sent, as the network says. Messages are never ordered by it"),
  price: groupIfSet("What the network charges for it, as a status says", {
    category: text("The category, such as `marketing`"),
    type: textOrNull("Such as `regular` or `free_customer_service`"),
    billable: z.boolean().nullable().describe("Whether it is charged. Null: not said"),
  }),
};

/** These fields, as the API documents them. */
export const contentFields = {
  origin: z
    .enum(ORIGINS)
    .optional()
    .describe(
      "What it came from, if no client sent it: `app`, the network's app for companies or a device that is linked to it; `network`, the network's own agent; `away`, the channel's `settings.away`. Absent: a client sent it, or the contact wrote it",
    ),
  sender: groupIfSet(
    "Who wrote it, as a web chat's visitor sees it. Set if the send named its `senderId` or a member sent it in the console: the member's `publicName` at that time, or its name if it had none",
    { name: text("The member's name when the message was accepted") },
  ),
  replyTo: textIfSet("The id of the message that this one replies to"),
  interactive,
  location,
  contacts,
  template: groupIfSet("The values for the template's header and buttons", {
    header: groupIfSet("The values of its header", {
      mediaUrl: textIfSet("The link of an image, a video or a document"),
      mediaId: textIfSet("The id of its file"),
      fileName: textIfSet("The name of a document"),
      variables: z
        .record(z.string(), z.union([z.string(), z.number()]))
        .optional()
        .describe("The values of its text"),
      location,
    }),
    buttons: groupsIfSet("The values of its buttons", {
      index: count.describe("The button's index"),
      urlSuffix: textIfSet("The end of its address"),
      payload: textIfSet("The `choice.id` of a tap"),
      code: textIfSet("The code that it copies"),
    }),
  }),
  choice: groupIfSet("The choice that the contact tapped", {
    id: textOrNull(
      "The `id` of the choice. Null if the message with the choice is blank or gone, or the tap is forged",
    ),
    title: text("The title of the choice"),
    messageId: textOrNull("The message with the choice. Null if the chat does not have it"),
  }),
  media: groupIfSet("What the media is, as far as it is known", {
    contentType: text("The media type, such as `image/jpeg`"),
    size: z.int().optional().describe("In bytes"),
    fileName: textIfSet("The file's name"),
    width: z.int().optional().describe("In pixels, as it is shown"),
    height: z.int().optional().describe("In pixels, as it is shown"),
  }),
  sticker: groupIfSet("Set if the media is a sticker", {
    emoji: textOrNull("The emoji that the sticker stands for, if known"),
  }),
  ...receivedFields,
  reactions: groupsIfSet("At most one reaction of each side", {
    by: oneOf(["contact", "organization"], "Who reacted"),
    emoji: text("The emoji"),
    at: time("When"),
  }),
  editedAt: timeIfSet("When its writer last changed it"),
  deletedAt: timeIfSet("When its writer deleted it. Then it is blank"),
  redactedAt: timeIfSet("When it was redacted. Then it is blank"),
};
