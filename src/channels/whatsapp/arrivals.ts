import { type ArrivalTable, arrivalTable, changes, described, kept, leftOut, namesIn } from "../network/arrivals.ts";

/** The fields of Meta's messages, by what becomes of them. */
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
  system: namesIn(`system.type system.wa_id system.new_wa_id system.customer system.user_id system.parent_user_id
system.previous_user_id system.previous_parent_user_id`),
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
  systemRest: namesIn("system.body system.identity"),
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

/** The fields of what the company writes in the WhatsApp Business app, besides those of messages. */
export const ECHO_LEAVES = {
  recipient: namesIn("to to_user_id to_parent_user_id"),
  sender: namesIn("from from_user_id"),
  said: namesIn("id timestamp type text image video document audio sticker location contacts context"),
  changes: namesIn("edit revoke reaction"),
  group: namesIn("group_id recipient_type"),
};

/** The fields of what the contact and Meta's own agent write to each other. */
export const STANDBY_LEAVES = {
  messages: namesIn("messages contacts"),
  echo: namesIn("message_echoes.id message_echoes.timestamp message_echoes.message"),
  definitions: namesIn("message_echoes.template message_echoes.flow"),
  statuses: namesIn("statuses"),
};

/** The fields of a change of the conversation's owner. */
export const HANDOVER_LEAVES = {
  channel: namesIn("recipient.phone_number_id"),
  contact: namesIn("sender.phone_number"),
  passed: namesIn("type control_passed.new_owner_role timestamp"),
  taken: namesIn("control_taken"),
  number: namesIn("recipient.display_phone_number"),
  rest: namesIn(`control_passed.previous_owner_role control_passed.previous_owner_app_id
control_passed.previous_owner_app_role control_passed.new_owner_app_id control_passed.metadata
control_passed.conversation_context`),
};

/** The fields of what Meta reports about an account and its numbers, by what becomes of them. */
export const ACCOUNT_LEAVES = {
  account: namesIn("waba_info.waba_id"),
  state: namesIn("event ban_info.waba_ban_state restriction_info.restriction_type"),
  reason: namesIn("disconnection_info.reason violation_info.violation_type"),
  name: namesIn("decision rejection_reason"),
  alert: namesIn("alert_info.alert_severity alert_info.alert_type alert_info.alert_description"),
  limit: namesIn("max_daily_conversations_per_business"),
  number: namesIn("phone_number display_phone_number requested_verified_name current_limit old_limit"),
  otherLimits: namesIn(`max_daily_conversation_per_phone max_phone_numbers_per_business
max_phone_numbers_per_waba`),
  place: namesIn("entity_type entity_id alert_info.alert_status"),
  times: namesIn("ban_info.waba_ban_date restriction_info.expiration disconnection_info.initiated_by"),
  partner: namesIn(`country waba_info.ad_account_linked waba_info.owner_business_id waba_info.partner_app_id
waba_info.solution_id waba_info.solution_partner_business_ids partner_client_certification_info`),
  rates: namesIn("auth_international_rate_eligibility volume_tier_info"),
};

/** The fields of what contacts choose, by what becomes of them. */
export const PREFERENCE_LEAVES = {
  choice: namesIn("category value timestamp"),
  contact: namesIn("wa_id user_id"),
  words: namesIn("detail"),
};

/** The fields that an app can subscribe to, by what becomes of them. */
export const FIELD_LEAVES = {
  messages: namesIn("messages"),
  templates: namesIn(`message_template_status_update message_template_quality_update
message_template_components_update template_category_update`),
  groups: namesIn("group_lifecycle_update group_participants_update group_settings_update group_status_update"),
  account: namesIn(`account_update account_alerts business_capability_update phone_number_quality_update
phone_number_name_update`),
  review: namesIn("account_review_update account_settings_update security"),
  others: namesIn("smb_message_echoes standby"),
  handovers: namesIn("messaging_handovers"),
  past: namesIn("history smb_app_state_sync message_echoes"),
  preferences: namesIn("user_preferences"),
  people: namesIn("user_id_update"),
  calls: namesIn("calls flows payment_configuration_update partner_solutions"),
};

/** What becomes of each field of Meta's messages, statuses and people. */
export const WHATSAPP_ARRIVALS: ArrivalTable[] = [
  arrivalTable("WhatsApp: fields of `messages[]`", MESSAGE_LEAVES, {
    id: kept("The id makes a repeated call the same message; the type decides what the message is"),
    sender: kept("The chat, by the contact's addresses"),
    time: kept("`networkTime`. The time of an edit is `editedAt`, that of a reaction its `at`"),
    group: leftOut("Groups are not supported: whatever comes from one changes no chat"),
    quote: kept("`replyTo`, if the chat has that message"),
    forwarded: kept("`forwarded`: `once`, or `many` for more than five times"),
    product: kept("`product`"),
    referral: kept("`referral`"),
    text: kept("`content`"),
    media: kept("`media` and `type`; for a sticker also `sticker`"),
    voice: kept("`voice`"),
    place: kept("`location`"),
    placeLink: described(),
    cards: kept("`contacts`"),
    cardDetails: described(),
    tap: kept("`choice`"),
    tapDetails: described(),
    form: kept("`form`, and described in `content`"),
    order: kept("`order`, and described in `content`"),
    orderText: described(),
    reaction: changes("`reactions` of the message"),
    edit: changes("`content` and `editedAt` of the message"),
    revoke: changes("The message: it becomes blank, with `deletedAt`"),
    system: changes("The contact's addresses. It makes no message"),
    unsupported: described(),
    errorTexts: leftOut("The code says which error it is"),
    quotedSender: leftOut("The quoted message says who wrote it"),
    referralMedia: leftOut("These addresses expire, and the greeting is the company's own"),
    fileDetails: leftOut("The file's id suffices, and the addresses expire"),
    verified: changes("The contact's addresses, if the company asked for the number"),
    cardRest: leftOut("A card has a name and phone numbers"),
    formText: leftOut("It is the same text for each form"),
    callRest: leftOut("The service makes no calls"),
    systemRest: leftOut("The ids say what has changed"),
    internal: leftOut("Meta does not say what these mean for a company"),
    welcome: leftOut("The contact wrote nothing, and has only opened the chat"),
  }),
  arrivalTable("WhatsApp: fields of `statuses[]`", STATUS_LEAVES, {
    message: kept("The message that it is about"),
    status: changes("`status` of the message. `played` is `READ`"),
    address: changes("Further addresses of the contact"),
    errors: kept("`error`"),
    price: kept("`price`"),
    group: leftOut("The status of a message to a group is about one member: it changes nothing"),
    time: leftOut(
      "The times of a message are those at which its statuses came in. That of a failure by an opt-out is `at` of the chat's `marketing`",
    ),
    conversation: leftOut("`price` says what a message costs"),
    internal: leftOut("Meta does not say what these mean for a company"),
  }),
  arrivalTable("WhatsApp: fields of `contacts[]`", CONTACT_LEAVES, {
    address: kept("The contact's addresses"),
    name: kept("`contact.name`, and `contact.username`"),
    rest: leftOut("The service checks no identities, and the number has its country"),
  }),
  arrivalTable("WhatsApp: fields of `message_echoes[]`, which the app sends", ECHO_LEAVES, {
    recipient: kept("The chat, by the contact's addresses"),
    sender: leftOut("It is the company"),
    said: kept('A message with `origin: "app"`, as the fields of `messages[]` say'),
    changes: changes("The message, as the same types of `messages[]` do"),
    group: leftOut("Groups are not supported: whatever goes to one changes no chat"),
  }),
  arrivalTable("WhatsApp: fields of `standby`", STANDBY_LEAVES, {
    messages: kept("A message with `standby: true`, as the fields of `messages[]` say"),
    echo: kept('A message with `origin: "network"`. Choices and templates are described in `content`'),
    definitions: leftOut("`content` has the template's name, and a form's text"),
    statuses: leftOut("The status of such a message is always `SENT`"),
  }),
  arrivalTable("WhatsApp: fields of `messaging_handovers`", HANDOVER_LEAVES, {
    channel: kept("The channel"),
    contact: kept("The chat"),
    passed: changes("`unansweredSince` of the chat, if the company has the conversation now"),
    taken: leftOut("Messages with `standby: true` follow"),
    number: leftOut("The id of the number suffices"),
    rest: leftOut("The chat's messages show the conversation"),
  }),
  arrivalTable("WhatsApp: fields of what Meta reports about an account and its numbers", ACCOUNT_LEAVES, {
    account: kept("The channels of the account"),
    state: changes("The channel's `state` and `health`"),
    reason: changes("The text of `health`: the reason is in brackets"),
    name: changes("A warning `name`, if Meta rejected a number's name"),
    alert: changes("A warning `alert`"),
    limit: changes("`health.dailyLimit`"),
    number: leftOut("Meta is asked about the channel's own number"),
    otherLimits: leftOut("They limit what the company may set up at Meta, not what it may send"),
    place: leftOut("The warning is the account's"),
    times: leftOut("A broken channel is tried again until it works"),
    partner: leftOut("It is about the companies behind the account"),
    rates: leftOut("`price` of each message says what counts"),
  }),
  arrivalTable("WhatsApp: fields of `user_preferences`", PREFERENCE_LEAVES, {
    choice: changes("`marketing` of the chat"),
    contact: kept("The chat"),
    words: leftOut("It says the choice in words"),
  }),
  arrivalTable("WhatsApp: fields that an app can subscribe to", FIELD_LEAVES, {
    messages: kept("See above"),
    templates: changes("The template's status, category and quality"),
    groups: leftOut("Groups are not supported"),
    account: changes("`health` of the channel"),
    review: leftOut("Logged"),
    others: kept("See above"),
    handovers: changes("See above"),
    past: leftOut("Logged. What was written before is not read"),
    preferences: changes("`marketing` of the chat"),
    people: leftOut("Logged"),
    calls: leftOut("The service makes no calls and takes no payments"),
  }),
];
