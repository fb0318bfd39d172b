import * as z from "zod";
import { RENDERINGS } from "../model/content.ts";
import { count, oneOf, text, textOrNull, time, timeIfSet } from "./typed-schema.ts";

/** The fields of a message that say more than text and media. Each is absent if the message has none. */

const title = text("What the contact reads");

const choices = z
  .array(
    z.discriminatedUnion("type", [
      z.object({
        type: z.literal("reply"),
        id: text("The company's own id. It comes back in the `choice` of the contact's tap"),
        title,
        description: z.string().optional().describe("A line below the title"),
        section: z.string().optional().describe("The section of the list that it belongs to"),
      }),
      z.object({ type: z.literal("link"), title, url: text("The page that it opens") }),
      z.object({ type: z.literal("location"), title }),
    ]),
  )
  .describe("The choices, all of one type");

const interactive = z
  .object({
    choices,
    header: z.string().optional().describe("A line above the text"),
    footer: z.string().optional().describe("A line below the text"),
    menuTitle: z.string().optional().describe("The label of the button that opens a list"),
    rendering: oneOf(
      RENDERINGS,
      "How the channel shows the choices. Decided when the message was accepted. `keyboard`: in place of the contact's keyboard. `text`: as lines of the text",
    ),
  })
  .optional()
  .describe("The choices that the contact can tap");

const location = z
  .object({
    latitude: z.number().describe("In degrees, from -90 to 90"),
    longitude: z.number().describe("In degrees, from -180 to 180"),
    name: z.string().optional().describe("The name of the place"),
    address: z.string().optional().describe("The address of the place"),
  })
  .optional()
  .describe("A place");

const contacts = z
  .array(
    z.object({
      name: text("The person's name"),
      phones: z.array(z.string()).describe("The person's phone numbers, as the sender wrote them"),
    }),
  )
  .optional()
  .describe("Contact cards");

/** These fields, as the API documents them. */
export const contentFields = {
  sender: z
    .object({ name: text("The member's name when the message was accepted") })
    .optional()
    .describe(
      "Who wrote it, as a web chat's visitor sees it. Set if the send named its `senderId` or a member sent it in the console: the member's `publicName` at that time, or its name if it had none",
    ),
  replyTo: z.string().optional().describe("The id of the message that this one replies to"),
  interactive,
  location,
  contacts,
  template: z
    .object({
      header: z
        .object({
          mediaUrl: z.string().optional().describe("The link of an image, a video or a document"),
          mediaId: z.string().optional().describe("The id of its file"),
          fileName: z.string().optional().describe("The name of a document"),
          variables: z
            .record(z.string(), z.union([z.string(), z.number()]))
            .optional()
            .describe("The values of its text"),
          location,
        })
        .optional()
        .describe("The values of its header"),
      buttons: z
        .array(
          z.object({
            index: count.describe("The button's index"),
            urlSuffix: z.string().optional().describe("The end of its address"),
            payload: z.string().optional().describe("The `choice.id` of a tap"),
            code: z.string().optional().describe("The code that it copies"),
          }),
        )
        .optional()
        .describe("The values of its buttons"),
    })
    .optional()
    .describe("The values for the template's header and buttons"),
  choice: z
    .object({
      id: textOrNull(
        "The `id` of the choice. Null if the message with the choice is blank or gone, or the tap is forged",
      ),
      title: text("The title of the choice"),
      messageId: textOrNull("The message with the choice. Null if the chat does not have it"),
    })
    .optional()
    .describe("The choice that the contact tapped"),
  media: z
    .object({
      contentType: text("The media type, such as `image/jpeg`"),
      size: z.int().optional().describe("In bytes"),
      fileName: z.string().optional().describe("The file's name"),
      width: z.int().optional().describe("In pixels, as it is shown"),
      height: z.int().optional().describe("In pixels, as it is shown"),
    })
    .optional()
    .describe("What the media is, as far as it is known"),
  sticker: z
    .object({ emoji: textOrNull("The emoji that the sticker stands for, if known") })
    .optional()
    .describe("Set if the media is a sticker"),
  reactions: z
    .array(
      z.object({
        by: oneOf(["contact", "organization"], "Who reacted"),
        emoji: text("The emoji"),
        at: time("When"),
      }),
    )
    .optional()
    .describe("At most one reaction of each side"),
  editedAt: timeIfSet("When the contact last changed it"),
  deletedAt: timeIfSet("When the contact deleted it. Then it is blank"),
  redactedAt: timeIfSet("When it was redacted. Then it is blank"),
};
