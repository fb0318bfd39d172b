import { type ArrivalTable, arrivalTable, changes, described, kept, leftOut } from "../network/arrivals.ts";
import { namesIn } from "../network/leaves.ts";
import { TELEGRAM_LEAVES } from "./leaves.ts";

/** Telegram's updates, by what becomes of them. */
export const UPDATE_LEAVES = {
  message: namesIn("message"),
  edit: namesIn("edited_message"),
  tap: namesIn("callback_query"),
  reaction: namesIn("message_reaction"),
  id: namesIn("update_id"),
  member: namesIn("my_chat_member"),
  business: namesIn("business_connection business_message edited_business_message deleted_business_messages"),
  channel: namesIn("channel_post edited_channel_post message_reaction_count"),
  inline: namesIn("inline_query chosen_inline_result guest_message stopped_message_generation"),
  payment: namesIn("shipping_query pre_checkout_query purchased_paid_media subscription"),
  poll: namesIn("poll poll_answer"),
  members: namesIn("chat_member chat_join_request chat_boost removed_chat_boost"),
  bots: namesIn("managed_bot"),
};

/** What becomes of each field of Telegram's updates and messages. */
export const TELEGRAM_ARRIVALS: ArrivalTable[] = [
  arrivalTable("Telegram: fields of `Message`", TELEGRAM_LEAVES, {
    id: kept("They make a repeated update the same message"),
    chat: kept("The chat, by its address, and `contact.name`"),
    quote: kept("`replyTo`, if the chat has that message"),
    time: kept("`networkTime`. The time of an edit is `editedAt`"),
    author: kept("`contact.name`. In a group `author`, with the person's title there in brackets"),
    text: kept("`content`"),
    links: kept("The address behind words follows them in `content`, in brackets. The rest is how the text looks"),
    rich: kept("Its words are `content`. Media in it is named"),
    media: kept("`media` and `type`; a sticker `sticker` too. Of a live photo, the photo"),
    voice: kept("`media` and `voice`"),
    place: kept("`location`"),
    card: kept("`contacts`"),
    forwarded: kept('`forwarded: "once"`. From whom is left out'),
    answered: described("Behind the text: the words that the contact quoted, the other chat, the story"),
    described: described(),
    submitted: kept("`submitted`, and described in `content`"),
    moved: changes("The address of the group's chat. It makes no message"),
    topic: leftOut("Answers go to the group, not to a topic of it"),
    service: leftOut("The contact wrote nothing: it says what happened in the chat"),
    otherChats: leftOut("They belong to chats other than the bot's own"),
    looks: leftOut("It is how the message looks, or how it was sent"),
  }),
  arrivalTable("Telegram: updates", UPDATE_LEAVES, {
    message: kept("A message"),
    edit: changes("`content` and `editedAt` of the message, if the text differs"),
    tap: kept("A message with `choice`"),
    reaction: changes("`reactions` of the message"),
    id: leftOut("The message's own id says more"),
    member: leftOut("Logged"),
    business: leftOut("Not asked for: these chats are those of the owner of a business account"),
    channel: leftOut("Not asked for: a channel has readers, not contacts"),
    inline: leftOut("Not asked for: nobody writes to the bot"),
    payment: leftOut("Not asked for: the service sells nothing. A payment that is made comes as a message"),
    poll: leftOut("Not asked for: the service sends no polls"),
    members: leftOut("Not asked for: it is about the members of a group"),
    bots: leftOut("Not asked for: the service manages no bots"),
  }),
];
