/** Adds a copy button to each code block, and a live region for the result. */
export function addCopyButtons(): void {
  const status = document.createElement("p");
  status.className = "visually-hidden";
  status.setAttribute("role", "status");
  document.body.append(status);

  for (const block of document.querySelectorAll<HTMLElement>(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${labelOf(block)}`);
    button.addEventListener("click", () => {
      void copy(block.querySelector("code")?.textContent ?? "").then((result) => {
        button.textContent = status.textContent = result;
        setTimeout(() => {
          button.textContent = "Copy";
          status.textContent = "";
        }, 2_000);
      });
    });
    block.append(button);
  }
}

/** The name of a code block. On a reference page it includes the route. */
function labelOf(block: HTMLElement): string {
  const route = block.closest("article")?.querySelector("h2")?.textContent;
  return `${block.dataset.label ?? ""}${route ? ` of ${route}` : ""}`;
}

async function copy(text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return "Copied";
  } catch {
    // The page is not served over https, or the browser refuses. The text can still be selected.
    return "Can't copy";
  }
}
