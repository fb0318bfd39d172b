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
