/** Puts a button to each line that is to be copied. Without this script the lines can be selected. */
for (const block of document.querySelectorAll<HTMLElement>("pre.copied")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  const label = block.dataset.label ?? "";
  button.setAttribute("aria-label", `Copy ${label}`);
  button.addEventListener("click", () => void copy(button, block.querySelector("code")?.textContent ?? ""));
  block.append(button);
}

const said = document.createElement("p");
said.className = "said";
said.setAttribute("role", "status");
document.body.append(said);

async function copy(button: HTMLButtonElement, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = said.textContent = "Copied";
  } catch {
    // A page that came by http, or a browser that refuses: the text can be selected.
    button.textContent = said.textContent = "Can't copy";
  }
  setTimeout(() => {
    button.textContent = "Copy";
    said.textContent = "";
  }, 2_000);
}
