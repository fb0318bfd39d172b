/**
 * What Meta sends and `whatsapp-api-js` 6.3.0 does not have. Each says where it is from: Meta's webhook reference (its
 * pages "messages", "statuses" and "Business-scoped user IDs"), or payloads in public reports.
 */

interface Original {
  /** Meta: "Edit message", "Revoke message". */
  original_message_id: string;
}

export interface MoreMessage {
  edit?: Original & { message: object };
  revoke?: Original;
  /** Meta: "Ads that click to WhatsApp". `ref` is that of a link with one, `image` an older form of `image_url`. */
  referral?: { ref?: string; image?: object };
  /** Meta: "System messages", before version 12 and with parent ids. */
  system?: { identity?: string; new_wa_id?: number; parent_user_id?: string; previous_parent_user_id?: string };
  /** Meta: "Unsupported messages"; the older form of its errors. */
  unsupported?: { type?: string };
  errors?: { details?: string; href?: string }[];
  /** Public reports: a caption of a forwarded audio, and the picture of a video without its motion. */
  audio?: { caption?: string };
  video?: { static_url?: string };
  /** Public reports: sent beside messages of people with a username. */
  user_actions?: object;
  /** Meta: "Conversation routing". */
  conversation_context?: object;
  interactive?: { type: string };
}

export interface MoreStatus {
  /** Meta: "Groups". */
  recipient_type?: string;
  recipient_participant_user_id?: string;
  participant_recipient_id?: string;
  /** Public reports: on calls, and on templates. */
  type?: string;
  message?: object;
  errors?: { details?: string }[];
}

export interface MoreContact {
  /** Meta: "Identity change check", and "Business-scoped user IDs". */
  identity_key_hash?: string;
  country_code?: string;
  profile?: { country_code?: string };
}

/** Meta: the pages of the webhook's fields `account_update`, `account_alerts` and three more, in one. */
export interface AccountReport {
  event?: string;
  country?: string;
  phone_number?: string;
  display_phone_number?: string;
  requested_verified_name?: string;
  decision?: string;
  rejection_reason?: string;
  current_limit?: string;
  old_limit?: string;
  max_daily_conversation_per_phone?: number;
  max_daily_conversations_per_business?: number | string;
  max_phone_numbers_per_business?: number;
  max_phone_numbers_per_waba?: number;
  entity_type?: string;
  entity_id?: string;
  waba_info?: {
    waba_id: string;
    owner_business_id?: string;
    ad_account_linked?: string;
    partner_app_id?: string;
    solution_id?: string;
    solution_partner_business_ids?: string[];
  };
  ban_info?: { waba_ban_state: string; waba_ban_date?: string };
  restriction_info?: { restriction_type: string; expiration?: string }[];
  violation_info?: { violation_type: string };
  disconnection_info?: { reason: string; initiated_by?: string };
  alert_info?: { alert_severity: string; alert_status?: string; alert_type: string; alert_description: string };
  auth_international_rate_eligibility?: object;
  volume_tier_info?: object;
  partner_client_certification_info?: object;
}

/** Meta: the page of the webhook's field `user_preferences`. */
export interface Preference {
  wa_id?: string;
  user_id?: string;
  detail?: string;
  category: string;
  value: string;
  timestamp: number;
}
