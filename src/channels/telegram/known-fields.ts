import { newFields } from "../network/known-fields.ts";

/** Notices of what happened in a chat. `arrivals.ts` names each, and a test compares them. */
const NOTICE =
  /^(?:new_chat_(?:members|title|photo)|left_chat_member|delete_chat_photo|(?:(?:super)?group|channel)_chat_created|message_auto_delete_timer_changed|pinned_message|write_access_allowed|connected_website|passport_data|proximity_alert_triggered|boost_added|chat_background_set|chat_owner_(?:left|changed)|forum_topic_(?:created|edited|closed|reopened)|general_forum_topic_(?:un)?hidden|video_chat_(?:scheduled|started|ended|participants_invited)|giveaway_(?:created|completed)|checklist_tasks_(?:done|added)|poll_option_(?:added|deleted)|community_chat_(?:added|removed|joined)|managed_bot_created|suggested_post_(?:info|approved|approval_failed|declined|paid|refunded)|(?:paid|direct)_message_price_changed|gift_upgrade_sent)$/;

/** The other fields of Telegram's messages. */
export const KNOWN_IN_MESSAGE = {
  "": [
    "animation audio author_signature business_connection_id caption caption_entities chat chat_shared",
    "checklist contact date dice direct_messages_topic document edit_date effect_id entities",
    "ephemeral_message_id external_reply forward_origin from game gift giveaway giveaway_winners",
    "guest_bot_caller_chat guest_bot_caller_user guest_query_id has_media_spoiler has_protected_content",
    "invoice is_automatic_forward is_from_offline is_paid_post is_topic_message link_preview_options",
    "live_photo location media_group_id message_id message_thread_id migrate_from_chat_id",
    "migrate_to_chat_id paid_media paid_star_count photo poll quote receiver_user refunded_payment",
    "reply_markup reply_to_checklist_task_id reply_to_message reply_to_poll_option_id reply_to_story",
    "rich_message sender_boost_count sender_business_bot sender_chat sender_tag show_caption_above_media",
    "sticker story successful_payment text unique_gift users_shared venue via_bot video video_note voice",
    "web_app_data",
  ].join(" "),
};

export function isNotice(name: string): boolean {
  return NOTICE.test(name);
}

/** The names of a message's fields that nobody here knows. */
export function newFieldsIn(message: Record<string, unknown>): string[] {
  return newFields(message, KNOWN_IN_MESSAGE).filter((name) => !isNotice(name));
}
