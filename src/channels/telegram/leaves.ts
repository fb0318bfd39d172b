import { leavesOf, namesIn } from "../network/leaves.ts";

/** The fields of Telegram's messages, by what becomes of them. `arrivals.ts` has the words. */
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

export const KNOWN_IN_MESSAGE = leavesOf(TELEGRAM_LEAVES);
