/** The addresses that stand for the service in examples: the second one is that of `npm start`. */
const PLACEHOLDERS = /https:\/\/parley\.example|http:\/\/localhost:8787/g;

/** Puts the address of this server into every example, so that a copied command works. */
export function showOwnAddress(): void {
  for (const block of document.querySelectorAll("pre code")) {
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      node.textContent = (node.textContent ?? "").replace(PLACEHOLDERS, location.origin);
    }
  }
}
