const REMEMBERED = "parley-docs-tab";

/** All groups of tabs on this page. A choice applies to all of them. */
const groups: { select(label: string): void }[] = [];

/** Turns groups of code blocks into tabs, and remembers the chosen language. */
export function makeTabs(): void {
  document.querySelectorAll<HTMLElement>(".tabs").forEach(makeGroup);
  const chosen = remembered();
  if (chosen) for (const group of groups) group.select(chosen);
}

function makeGroup(box: HTMLElement, at: number): void {
  const panels = [...box.querySelectorAll<HTMLElement>(".panel")];
  const list = document.createElement("div");
  list.className = "tab-list";
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Language");
  const tabs = panels.map((panel, index) => {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `tab-${at}-${index}`;
    tab.textContent = panel.dataset.tab ?? "";
    tab.setAttribute("role", "tab");
    panel.id = `panel-${at}-${index}`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    tab.setAttribute("aria-controls", panel.id);
    tab.addEventListener("click", () => choose(tab.textContent ?? ""));
    return tab;
  });
  const select = (label: string) => {
    // A group without this language stays as it is.
    if (!tabs.some((tab) => tab.textContent === label)) return;
    tabs.forEach((tab, index) => {
      const isChosen = tab.textContent === label;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      const panel = panels[index];
      if (panel) panel.hidden = !isChosen;
    });
  };
  list.addEventListener("keydown", (event) => {
    const now = tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
    const next = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 }[event.key];
    const tab = next === undefined ? undefined : tabs[(next + tabs.length) % tabs.length];
    if (!tab) return;
    event.preventDefault();
    choose(tab.textContent ?? "");
    tab.focus();
  });
  list.append(...tabs);
  box.prepend(list);
  box.classList.add("live");
  select(tabs[0]?.textContent ?? "");
  groups.push({ select });
}

function choose(label: string): void {
  for (const group of groups) group.select(label);
  try {
    localStorage.setItem(REMEMBERED, label);
  } catch {
    // Without storage the choice applies only to this page.
  }
}

function remembered(): string | null {
  try {
    return localStorage.getItem(REMEMBERED);
  } catch {
    return null;
  }
}
