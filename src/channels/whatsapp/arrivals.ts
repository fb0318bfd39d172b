import { type ArrivalTable, arrivalTable, changes, described, kept, leftOut } from "../network/arrivals.ts";
import { namesIn } from "../network/leaves.ts";
import { CONTACT_LEAVES, MESSAGE_LEAVES, STATUS_LEAVES } from "./leaves.ts";

/** The fields that an app can subscribe to, by what becomes of them. */
export const FIELD_LEAVES = {
  messages: namesIn("messages"),
  templates: namesIn(`message_template_status_update message_template_quality_update
message_template_components_update template_category_update`),
  groups: namesIn("group_lifecycle_update group_participants_update group_settings_update group_status_update"),
  account: namesIn(`account_update account_alerts account_review_update account_settings_update
business_capability_update phone_number_quality_update phone_number_name_update security`),
  others: namesIn("smb_message_echoes smb_app_state_sync standby messaging_handovers history message_echoes"),
  people: namesIn("user_preferences user_id_update"),
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
    media: kept("`media` and `type`; a sticker `sticker` too"),
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
    system: changes("The contact's address. It makes no message"),
    unsupported: described(),
    errorTexts: leftOut("The code says which error it is"),
    quotedSender: leftOut("The quoted message says who wrote it"),
    referralMedia: leftOut("These addresses expire, and the greeting is the company's own"),
    fileDetails: leftOut("The file's id suffices, and the addresses expire"),
    verified: leftOut("A card adds no address to the contact"),
    cardRest: leftOut("A card has a name and phone numbers"),
    formText: leftOut("It is the same text for each form"),
    callRest: leftOut("The service makes no calls"),
    systemRest: leftOut("The ids say what has changed"),
    internal: leftOut("Meta does not say what it means for a company"),
    welcome: leftOut("The contact wrote nothing, and has only opened the chat"),
  }),
  arrivalTable("WhatsApp: fields of `statuses[]`", STATUS_LEAVES, {
    message: kept("The message that it is about"),
    status: changes("`status` of the message. `played` is `READ`"),
    address: changes("Further addresses of the contact"),
    errors: kept("`error`"),
    price: kept("`price`"),
    group: leftOut("The status of a message to a group is about one member: it changes nothing"),
    time: leftOut("The times of a message are those at which its statuses came in"),
    conversation: leftOut("`price` says what a message costs"),
    internal: leftOut("Meta does not say what it means for a company"),
  }),
  arrivalTable("WhatsApp: fields of `contacts[]`", CONTACT_LEAVES, {
    address: kept("The contact's addresses"),
    name: kept("`contact.name`: the name, else the username"),
    rest: leftOut("The service checks no identities, and the number has its country"),
  }),
  arrivalTable("WhatsApp: fields that an app can subscribe to", FIELD_LEAVES, {
    messages: kept("See above"),
    templates: changes("The template's status, category and quality"),
    groups: leftOut("Groups are not supported"),
    account: leftOut("Logged"),
    others: leftOut("Logged"),
    people: leftOut("Logged"),
    calls: leftOut("The service makes no calls and takes no payments"),
  }),
];
