import { type ArrivalTable, arrivalTable, changes, described, kept, leftOut, namesIn } from "../network/arrivals.ts";

/** The fields of Telegram's messages, by what becomes of them. */
export const TELEGRAM_LEAVES = {
  id: namesIn("message_id ephemeral_message_id"),
  chat: namesIn("chat"),
  quote: namesIn("reply_to_message"),
  time: namesIn("date edit_date"),
  author: namesIn("from sender_chat sender_tag author_signature"),
  text: namesIn("text caption"),
  links: namesIn("entities caption_entities"),
  rich: namesIn("rich_message"),
  media: namesIn("photo live_photo animation video video_note audio document sticker"),
  voice: namesIn("voice"),
  place: namesIn("location venue"),
  card: namesIn("contact"),
  forwarded: namesIn("forward_origin is_automatic_forward"),
  answered: namesIn("quote external_reply reply_to_story"),
  described: namesIn(`poll dice game checklist story paid_media invoice gift unique_gift giveaway giveaway_winners`),
  submitted: namesIn("web_app_data users_shared chat_shared successful_payment refunded_payment"),
  moved: namesIn("migrate_to_chat_id migrate_from_chat_id"),
  topic: namesIn("message_thread_id is_topic_message"),
  service: namesIn(`new_chat_members new_chat_title new_chat_photo left_chat_member delete_chat_photo group_chat_created
supergroup_chat_created channel_chat_created message_auto_delete_timer_changed pinned_message write_access_allowed
connected_website passport_data proximity_alert_triggered boost_added chat_background_set forum_topic_created
forum_topic_edited forum_topic_closed forum_topic_reopened general_forum_topic_hidden general_forum_topic_unhidden
video_chat_scheduled video_chat_started video_chat_ended video_chat_participants_invited giveaway_created
giveaway_completed checklist_tasks_done checklist_tasks_added poll_option_added poll_option_deleted
community_chat_added community_chat_removed community_chat_joined chat_owner_left chat_owner_changed
managed_bot_created suggested_post_info suggested_post_approved suggested_post_approval_failed suggested_post_declined
suggested_post_paid suggested_post_refunded paid_message_price_changed direct_message_price_changed
gift_upgrade_sent`),
  otherChats: namesIn(`business_connection_id sender_business_bot guest_query_id guest_bot_caller_user
guest_bot_caller_chat direct_messages_topic receiver_user`),
  looks: namesIn(`media_group_id has_media_spoiler show_caption_above_media via_bot effect_id link_preview_options
has_protected_content is_from_offline is_paid_post paid_star_count sender_boost_count reply_markup
reply_to_checklist_task_id reply_to_poll_option_id`),
};

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
    chat: kept("The chat, by its address, and `contact.name` and `contact.username`"),
    quote: kept("`replyTo`, if the chat has that message"),
    time: kept("`networkTime`. The time of an edit is `editedAt`"),
    author: kept("`contact.name`. In a group `author`, with the person's title there in brackets"),
    text: kept("`content`"),
    links: kept("The address behind words follows them in `content`, in brackets. The rest is how the text looks"),
    rich: kept("Its words are `content`. Media in it is named"),
    media: kept("`media` and `type`; for a sticker also `sticker`. Of a live photo, the photo"),
    voice: kept("`media` and `voice`"),
    place: kept("`location`"),
    card: kept("`contacts`. The contact's own number is a further address of the contact"),
    forwarded: kept('`forwarded: "once"`. From whom is left out'),
    answered: described("After the text: the words that the contact quoted, the other chat, the story"),
    described: described(),
    submitted: kept("`submitted`, and described in `content`"),
    moved: changes("The address of the group's chat. It makes no message"),
    topic: changes("The topic that answers go to, until a newer message is in another one or in none"),
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
