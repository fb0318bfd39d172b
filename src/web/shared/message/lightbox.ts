/** Shows a picture as large as the window. Escape, the button and a tap beside the picture close it. */
export function openLightbox({ href, alt, close }: { href: string; alt: string; close: string }): void {
  const dialog = document.createElement("dialog");
  dialog.className = "lightbox";
  dialog.setAttribute("aria-label", alt);
  const image = document.createElement("img");
  image.src = href;
  image.alt = alt;
  image.referrerPolicy = "no-referrer";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain";
  button.ariaLabel = close;
  button.textContent = "✕";
  dialog.append(button, image);
  dialog.addEventListener("click", ({ target }) => {
    if (target !== image) dialog.close();
  });
  // Escape closes this alone, and not the chat.
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
