/**
 * The forms of phone numbers on WhatsApp. In some countries a network writes a number in another form than people do, so
 * that both forms are one contact. Numbers are digits with the country's code.
 */

const MIN_DIGITS = 7;
const MAX_DIGITS = 15;

/** A user id on WhatsApp: the country, a mark for the ids of a portfolio, and characters without meaning. */
const USER_ID = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z\d]{1,128}$/;

/** The short form of the numbers that have two, and the digit that the long form has behind the first part. */
const TWO_FORMS = [
  // Brazil: mobile numbers have had a 9 behind the area's code since 2016. Landlines have not.
  { short: /^(55\d\d)([6-9]\d{7})$/, long: /^(55\d\d)9([6-9]\d{7})$/, digit: "9" },
  // Mexico: mobile numbers had a 1 behind the country's code until 2019.
  { short: /^(52)(\d{10})$/, long: /^(52)1(\d{10})$/, digit: "1" },
  // Argentina: mobile numbers have a 9 behind the country's code when they are called from abroad.
  { short: /^(54)(\d{10})$/, long: /^(54)9(\d{10})$/, digit: "9" },
];

/** Ivory Coast: since 2021 the number's operator stands before it. WhatsApp still reports the numbers of before. */
const SHORT_IVORIAN = /^225(\d{8})$/;
const IVORIAN_OPERATORS = ["01", "05", "07"];

/**
 * An address on WhatsApp from what a person wrote: the digits of a phone number, or a user id.
 * @returns null if it is neither. A country's code does not begin with 0, and a 0 in brackets is not dialed from abroad
 */
export function whatsappAddress(text: string): string | null {
  const plain = text.trim();
  if (USER_ID.test(plain)) return plain;
  if (/\(\s*0/.test(plain)) return null;
  const digits = plain.replace(/^\+/, "").replace(/[\s()[\]-]/g, "");
  return /^[1-9]\d*$/.test(digits) && digits.length >= MIN_DIGITS && digits.length <= MAX_DIGITS ? digits : null;
}

/** The other form of a number that has two; null if it has one. */
export function otherForm(number: string): string | null {
  for (const { short, long, digit } of TWO_FORMS) {
    if (long.test(number)) return number.replace(long, "$1$2");
    if (short.test(number)) return number.replace(short, `$1${digit}$2`);
  }
  return null;
}

/** The numbers that a short number of Ivory Coast can stand for; none for any other number. */
export function ivorianForms(number: string): string[] {
  const [, rest] = SHORT_IVORIAN.exec(number) ?? [];
  return rest === undefined ? [] : IVORIAN_OPERATORS.map((operator) => `225${operator}${rest}`);
}
