/** With how many texts a contact can end marketing on a channel. */
export const MAX_STOP_WORDS = 20;
export const MAX_STOP_WORD = 64;

/** Whether a contact's text is exactly one of these words. Case, and white space around them, make no difference. */
export function isStopWord(words: readonly string[] | undefined, text: string): boolean {
  if (!words || text.length > 2 * MAX_STOP_WORD) return false;
  const written = plain(text);
  return words.some((word) => plain(word) === written);
}

function plain(text: string): string {
  // Twice, because some letters have two small or two capital forms.
  return text.trim().normalize().toUpperCase().toLowerCase();
}
