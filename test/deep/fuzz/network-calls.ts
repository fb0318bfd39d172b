import fc from "fast-check";
import { idOf } from "./values.ts";

/** What networks send to their webhooks. */

const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const words = fc.oneof(fc.constantFrom("Hello", "", "Grüße \ud83d", "\0", "/start", "x ".repeat(2_500)), fc.string());
const file = fc.record(
  { file_id: words, mime_type: some(words), file_name: some(words) },
  { requiredKeys: ["file_id"] },
);
const odd = fc.oneof(words, fc.jsonValue({ maxDepth: 2 }));
const person = fc.record({ first_name: odd, last_name: odd, username: odd }, { requiredKeys: [] });

const telegramId = fc.oneof(fc.nat(50), fc.nat(), odd);
const telegramChat = fc.record({
  id: fc.integer({ min: -500, max: 500 }),
  title: some(odd),
  type: words,
  first_name: odd,
});
const place = fc.record({
  latitude: fc.oneof(fc.integer({ min: -95, max: 95 }), odd),
  longitude: fc.oneof(fc.integer({ min: -185, max: 185 }), odd),
});
const seconds = fc.oneof(fc.integer({ min: 1_790_000_000, max: 1_790_000_100 }), odd);
const emojis = fc.array(
  fc.oneof(fc.record({ type: fc.constant("emoji"), emoji: fc.oneof(fc.constantFrom("👍", "🔥"), odd) }), odd),
  { maxLength: 3 },
);
const telegramMessage = fc.record(
  {
    message_id: telegramId,
    date: fc.nat(),
    edit_date: some(seconds),
    chat: telegramChat,
    from: some(person),
    text: some(fc.oneof({ weight: 3, arbitrary: words }, { weight: 1, arbitrary: odd })),
    caption: some(odd),
    photo: some(fc.array(fc.record({ file_id: words, width: fc.integer(), height: fc.integer() }), { maxLength: 3 })),
    voice: some(file),
    document: some(file),
    sticker: some(fc.oneof(fc.record({ file_id: words, is_video: fc.boolean(), emoji: odd }), odd)),
    location: some(fc.oneof(place, odd)),
    venue: some(fc.oneof(fc.record({ location: place, title: odd, address: odd }), odd)),
    contact: some(fc.oneof(fc.record({ first_name: odd, phone_number: odd }), odd)),
    reply_to_message: some(fc.oneof(fc.record({ message_id: telegramId }), odd)),
    migrate_to_chat_id: fc.option(fc.integer({ min: -500, max: 500 }), { nil: undefined, freq: 20 }),
  },
  { requiredKeys: ["message_id", "chat"] },
);
const query = fc.record({
  id: words,
  from: fc.record({ id: fc.integer({ min: -500, max: 500 }), first_name: odd }),
  message: some(fc.oneof(fc.record({ message_id: telegramId, date: fc.constant(0), chat: telegramChat }), odd)),
  data: fc.oneof(fc.constantFrom("msg_g0123456789ABCDE1:0", "x:1"), odd),
});
const reaction = fc.record({
  chat: telegramChat,
  message_id: telegramId,
  date: seconds,
  old_reaction: fc.oneof(emojis, odd),
  new_reaction: fc.oneof(emojis, odd),
});
const orOdd = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 9, arbitrary }, { weight: 1, arbitrary: odd });

/** Telegram's updates, and what may come in their place. */
export const updates = fc.oneof(
  { weight: 4, arbitrary: fc.record({ update_id: fc.nat(), message: orOdd(telegramMessage) }) },
  { weight: 1, arbitrary: fc.record({ update_id: fc.nat(), edited_message: orOdd(telegramMessage) }) },
  { weight: 1, arbitrary: fc.record({ update_id: fc.nat(), callback_query: orOdd(query) }) },
  { weight: 1, arbitrary: fc.record({ update_id: fc.nat(), message_reaction: orOdd(reaction) }) },
);

const waId = fc.nat(300).map((n) => String(4_917_000_000 + n));
const wamid = fc.oneof(
  fc.oneof(fc.nat(50), fc.nat(1e6)).map((n) => `wamid.${n}`),
  words,
);
const WA_TYPES = ["text", "image", "document", "sticker", "location", "contacts", "interactive", "button"];
const WA_CHANGES = ["reaction", "edit", "revoke", "unknown", "__proto__"];
const waReply = fc.record({ id: odd, title: odd });
const waMessage = fc.record(
  {
    from: fc.oneof({ weight: 6, arbitrary: waId }, { weight: 1, arbitrary: odd }),
    id: wamid,
    timestamp: some(fc.oneof(seconds.map(String), words)),
    type: fc.constantFrom(...WA_TYPES, ...WA_CHANGES),
    context: some(fc.oneof(fc.record({ id: wamid }), odd)),
    text: some(fc.record({ body: odd })),
    image: some(fc.record({ id: words, mime_type: words, caption: odd })),
    document: some(odd),
    sticker: some(fc.oneof(fc.record({ id: words }), odd)),
    location: some(fc.oneof(place, odd)),
    contacts: some(
      fc.oneof(fc.array(fc.record({ phones: fc.array(fc.record({ phone: odd })) }), { maxLength: 7 }), odd),
    ),
    interactive: some(fc.oneof(fc.record({ type: fc.constant("button_reply"), button_reply: waReply }), odd)),
    button: some(fc.oneof(fc.record({ payload: odd, text: odd }), odd)),
    reaction: some(fc.oneof(fc.record({ message_id: wamid, emoji: odd }), odd)),
    revoke: some(fc.oneof(fc.record({ original_message_id: wamid }), odd)),
    edit: some(
      fc.oneof(
        fc.record({
          original_message_id: wamid,
          message: fc.record({ type: fc.constantFrom("text", "image"), text: fc.record({ body: odd }), image: odd }),
        }),
        odd,
      ),
    ),
  },
  { requiredKeys: ["from", "id", "type"] },
);
const waStatus = fc.record({
  id: words,
  status: fc.constantFrom("sent", "delivered", "read", "failed", "new"),
  timestamp: words,
  recipient_id: waId,
  biz_opaque_callback_data: fc.oneof(
    words,
    fc.tuple(idOf("cht"), idOf("msg")).map((ids) => ids.join(".")),
    fc.tuple(idOf("cht"), idOf("msg")).map((ids) => `${ids.join(".")}.reaction.5`),
  ),
  errors: some(fc.array(fc.record({ code: odd, title: odd, message: odd }), { maxLength: 2 })),
});

/** Meta's notifications, and what may come in their place. */
export const notifications = fc.record({
  object: fc.constantFrom("whatsapp_business_account", "page"),
  entry: fc.oneof(
    {
      weight: 9,
      arbitrary: fc.array(
        fc.record({
          id: words,
          changes: fc.array(
            fc.record({
              field: fc.constantFrom("messages", "messages", "messages", "account_update"),
              value: fc.record(
                {
                  metadata: fc.record({ phone_number_id: fc.constantFrom("15550001111", "15550001111", "1", "") }),
                  contacts: some(
                    fc.array(fc.record({ wa_id: waId, profile: fc.record({ name: odd }) }), { maxLength: 2 }),
                  ),
                  messages: some(fc.array(waMessage, { maxLength: 3 })),
                  statuses: some(fc.array(waStatus, { maxLength: 3 })),
                },
                { requiredKeys: ["metadata"] },
              ),
            }),
            { maxLength: 2 },
          ),
        }),
        { maxLength: 2 },
      ),
    },
    { weight: 1, arbitrary: odd },
  ),
});
