import type { KnownFields } from "../network/known-fields.ts";

/** The fields of Meta's messages. `arrivals.ts` says what becomes of each, and a test compares them. */
export const KNOWN_MESSAGE_FIELDS = {
  "": "audio button contacts context conversation_context document edit errors from from_logical_id from_parent_user_id from_user_id group_id id identity image interactive location order reaction referral request_welcome revoke sticker system text timestamp type unsupported user_actions video",
  context: "forwarded frequently_forwarded from id referred_product",
  referral:
    "body ctwa_clid headline image image_url media_type ref source_id source_type source_url thumbnail_url video_url welcome_message",
  text: "body",
  image: "caption id mime_type sha256 static_url url",
  video: "caption id mime_type sha256 static_url url",
  document: "caption filename id mime_type sha256 url",
  audio: "caption id mime_type sha256 url voice",
  sticker: "animated id mime_type sha256 url",
  location: "address latitude longitude name url",
  contacts: "addresses birthday emails name org origin phones urls vcard",
  interactive: "button_reply call_permission_reply list_reply nfm_reply type",
  button: "payload text",
  order: "catalog_id product_items text",
  reaction: "emoji message_id",
  edit: "message original_message_id",
  revoke: "original_message_id",
  system: "body customer identity new_wa_id parent_user_id previous_parent_user_id previous_user_id type user_id wa_id",
  unsupported: "type",
  errors: "code details error_data href message title",
} satisfies KnownFields;

/** Those of its statuses. */
export const KNOWN_STATUS_FIELDS: KnownFields = {
  "": "biz_opaque_callback_data conversation errors id internal_1p_only_data message participant_recipient_id pricing recipient_id recipient_identity_key_hash recipient_logical_id recipient_parent_user_id recipient_participant_id recipient_participant_user_id recipient_type recipient_user_id status timestamp type",
  errors: KNOWN_MESSAGE_FIELDS.errors,
  pricing: "billable category pricing_model type",
};

/** Those of the people in a call. */
export const KNOWN_CONTACT_FIELDS: KnownFields = {
  "": "country_code identity_key_hash parent_user_id profile user_id wa_id",
  profile: "country_code name username",
};

/** Those of what contacts choose. */
export const KNOWN_PREFERENCE_FIELDS: KnownFields = { "": "category detail timestamp user_id value wa_id" };

/** Those of what it reports about an account and its numbers. */
export const KNOWN_ACCOUNT_FIELDS: KnownFields = {
  "": "alert_info auth_international_rate_eligibility ban_info country current_limit decision disconnection_info display_phone_number entity_id entity_type event max_daily_conversation_per_phone max_daily_conversations_per_business max_phone_numbers_per_business max_phone_numbers_per_waba old_limit partner_client_certification_info phone_number rejection_reason requested_verified_name restriction_info violation_info volume_tier_info waba_info",
  alert_info: "alert_description alert_severity alert_status alert_type",
  ban_info: "waba_ban_date waba_ban_state",
  disconnection_info: "initiated_by reason",
  restriction_info: "expiration restriction_type",
  violation_info: "violation_type",
  waba_info: "ad_account_linked owner_business_id partner_app_id solution_id solution_partner_business_ids waba_id",
};
