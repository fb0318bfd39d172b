/** The addresses of the service in the examples. The second one is the address of `npm start`. */
const PLACEHOLDERS = /https:\/\/parley\.example|http:\/\/localhost:8787/g;

/** Replaces them with the address of this server, so that a copied command works. */
export function showOwnAddress(): void {
  for (const block of document.querySelectorAll("pre code")) {
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      node.textContent = (node.textContent ?? "").replace(PLACEHOLDERS, location.origin);
    }
  }
}
