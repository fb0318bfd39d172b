import { folded } from "../../src/model/folding.ts";
import type { IndexedMessage } from "../../src/model/search-index.ts";
import { Random } from "../support/random.ts";

const START = Date.UTC(2024, 0, 1);
const TWO_YEARS = 2 * 365 * 86_400_000;
const LENGTH = 131;
/** What one message in a thousand says, in each of these languages. */
const SENTENCES = [
  "Ich warte noch auf die Rückerstattung für Müller.",
  "สวัสดีค่ะ ดิฉันต้องการขอคืนเงินสำหรับคำสั่งซื้อนี้",
  "您好，我想申请退款，谢谢。",
  "مرحبا، أريد استرداد المبلغ من فضلكم",
];

/** What is searched in the messages, by its name. */
export const SEARCHES = {
  rare: "%RARE%",
  "in 1 %": "#ONE#",
  "in 50 %": "HALF",
  "common and rare": "HALF %RARE%",
  "two common ones, rarely together": "LEFT RIGHT",
  absent: "@ABSENT@",
  "two units, common": "TE",
  "two units, rare": "#O",
  "German, in 0.1 %": "rückerstattung für",
  "Thai, in 0.1 %": "ขอคืนเงิน",
  "Chinese, in 0.1 %": "退款",
  "Arabic, in 0.1 %": "استرداد",
};

const random = new Random(1);
const WORDS = Array.from({ length: 20_000 }, () => {
  const letters = Array.from(
    { length: random.between(2, 10) },
    () => "ETAOINSHRDLUCMFWYPVBGKQJXZ"[Math.floor(random.next() ** 1.8 * 26)],
  );
  return letters.join("");
});

/**
 * A message with words as common as in a language, and some whose share is known.
 * @param n its number of all messages
 * @param place its time, as a share of two years
 */
export function messageOf(seq: number, n: number, place: number): IndexedMessage {
  const marks = [
    n % 2 === 0 && "HALF",
    n % 100 === 0 && "#ONE#",
    n % 50_000 === 8 && "%RARE%",
    n % 3 === 0 ? "LEFT" : n % 3 === 1 && "RIGHT",
  ];
  if (n % 40_000 === 9) marks.push("LEFT RIGHT");
  const sentence = SENTENCES[(n % 1_000) - 21];
  if (sentence) marks.push(folded(sentence));
  let text = marks.filter(Boolean).join(" ");
  while (text.length < LENGTH) text += ` ${WORDS[Math.floor(random.next() ** 3 * WORDS.length)]}`;
  return {
    seq,
    at: START + Math.floor(place * TWO_YEARS),
    direction: n % 4 === 0 ? "OUTBOUND" : "INBOUND",
    text: text.slice(0, LENGTH),
  };
}
