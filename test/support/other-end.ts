/** A text with another last character. One that has an end of the test's choice would now and then be the text itself. */
export function withOtherEnd(text: string): string {
  return text.slice(0, -1) + (text.endsWith("A") ? "B" : "A");
}
