const BUBBLE = "M21 12a8 8 0 0 1-8 8H4l2-3.5A8 8 0 1 1 21 12ZM9 12h.01M13 12h.01M17 12h.01";
const CROSS = "M6 6l12 12M18 6 6 18";
const SVG = "http://www.w3.org/2000/svg";

/** The button that opens and closes the chat. Its label says what it does, so the drawing needs none. */
export function launcher() {
  const button = document.createElement("button");
  button.className = "launcher";
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", "0 0 24 24");
  const line = document.createElementNS(SVG, "path");
  drawing.append(line);
  button.append(drawing);
  return { button, draw: (isOpen: boolean) => line.setAttribute("d", isOpen ? CROSS : BUBBLE) };
}
