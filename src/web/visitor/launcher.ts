/** The button that opens and closes the chat. Its label says what it does, so the drawings need none. */
export function launcher(): HTMLButtonElement {
  const button = document.createElement("button");
  button.className = "launcher";
  button.append(
    drawing("bubble", "M21 12a8 8 0 0 1-8 8H4l2-3.5A8 8 0 1 1 21 12ZM9 12h.01M13 12h.01M17 12h.01"),
    drawing("x", "M6 6l12 12M18 6 6 18"),
  );
  return button;
}

function drawing(name: string, path: string): SVGElement {
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("class", name);
  svg.setAttribute("viewBox", "0 0 24 24");
  const line = document.createElementNS(namespace, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}
