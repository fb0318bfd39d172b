import { leavesOf, namesIn } from "../network/leaves.ts";

/** The fields of Meta's messages, by what becomes of them. `arrivals.ts` has the words. */
export const MESSAGE_LEAVES = {
  id: namesIn("id type"),
  sender: namesIn("from from_user_id from_parent_user_id"),
  time: namesIn("timestamp"),
  group: namesIn("group_id"),
  quote: namesIn("context.id"),
  forwarded: namesIn("context.forwarded context.frequently_forwarded"),
  product: namesIn("context.referred_product.catalog_id context.referred_product.product_retailer_id"),
  referral: namesIn(`referral.source_type referral.source_id referral.source_url referral.headline referral.body
referral.ctwa_clid referral.ref`),
  text: namesIn("text.body image.caption video.caption document.caption audio.caption"),
  media: namesIn(`image.id image.mime_type video.id video.mime_type audio.id audio.mime_type document.id
document.mime_type document.filename sticker.id`),
  voice: namesIn("audio.voice"),
  place: namesIn("location.latitude location.longitude location.name location.address"),
  placeLink: namesIn("location.url"),
  cards: namesIn("contacts.name.formatted_name contacts.phones.phone"),
  cardDetails: namesIn("contacts.emails.email contacts.org.company contacts.urls.url"),
  tap: namesIn(`interactive.type interactive.button_reply.id interactive.button_reply.title interactive.list_reply.id
interactive.list_reply.title button.payload button.text`),
  tapDetails: namesIn("interactive.list_reply.description interactive.call_permission_reply.response"),
  form: namesIn("interactive.nfm_reply.name interactive.nfm_reply.response_json"),
  order: namesIn(`order.catalog_id order.product_items.product_retailer_id order.product_items.quantity
order.product_items.item_price order.product_items.currency`),
  orderText: namesIn("order.text"),
  reaction: namesIn("reaction.message_id reaction.emoji"),
  edit: namesIn("edit.original_message_id edit.message"),
  revoke: namesIn("revoke.original_message_id"),
  system: namesIn("system.wa_id system.customer system.user_id system.previous_user_id"),
  unsupported: namesIn("unsupported.type errors.code"),
  errorTexts: namesIn("errors.title errors.message errors.error_data errors.href errors.details"),
  quotedSender: namesIn("context.from"),
  referralMedia: namesIn(`referral.media_type referral.image referral.image_url referral.video_url
referral.thumbnail_url referral.welcome_message`),
  fileDetails: namesIn(`image.sha256 image.url image.static_url video.sha256 video.url video.static_url audio.sha256
audio.url document.sha256 document.url sticker.sha256 sticker.url sticker.mime_type sticker.animated`),
  verified: namesIn("contacts.origin contacts.phones.wa_id"),
  cardRest: namesIn(`contacts.name.first_name contacts.name.last_name contacts.name.middle_name contacts.name.suffix
contacts.name.prefix contacts.phones.type contacts.emails.type contacts.org.department contacts.org.title
contacts.urls.type contacts.addresses contacts.birthday contacts.vcard`),
  formText: namesIn("interactive.nfm_reply.body"),
  callRest: namesIn(`interactive.call_permission_reply.is_permanent
interactive.call_permission_reply.expiration_timestamp interactive.call_permission_reply.response_source`),
  systemRest: namesIn(`system.type system.body system.identity system.new_wa_id system.parent_user_id
system.previous_parent_user_id`),
  internal: namesIn("from_logical_id identity user_actions conversation_context"),
  welcome: namesIn("request_welcome"),
};

/** The fields of Meta's statuses. */
export const STATUS_LEAVES = {
  message: namesIn("id biz_opaque_callback_data"),
  status: namesIn("status"),
  address: namesIn("recipient_id recipient_user_id recipient_parent_user_id"),
  errors: namesIn("errors.code errors.title errors.message errors.error_data errors.details errors.href"),
  price: namesIn("pricing.category pricing.type pricing.billable"),
  group: namesIn("recipient_type recipient_participant_id recipient_participant_user_id participant_recipient_id"),
  time: namesIn("timestamp"),
  conversation: namesIn("conversation pricing.pricing_model"),
  internal: namesIn("recipient_identity_key_hash recipient_logical_id internal_1p_only_data type message"),
};

/** The fields of the people in a call. */
export const CONTACT_LEAVES = {
  address: namesIn("wa_id user_id parent_user_id"),
  name: namesIn("profile.name profile.username"),
  rest: namesIn("identity_key_hash country_code profile.country_code"),
};

export const KNOWN = {
  message: leavesOf(MESSAGE_LEAVES),
  status: leavesOf(STATUS_LEAVES),
  contact: leavesOf(CONTACT_LEAVES),
};
