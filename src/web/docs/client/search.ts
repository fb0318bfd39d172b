import type { SearchEntry } from "../search-index.ts";
import { type Hit, openIndex } from "./find.ts";
import { queryWords } from "./words.ts";

/** Adds the search to the header: an input with a list of results, usable with the keyboard. */
export function startSearch(): void {
  const place = document.getElementById("search");
  if (!place) return;
  const input = document.createElement("input");
  const list = document.createElement("ul");
  const status = document.createElement("p");
  input.type = "search";
  input.placeholder = "Search";
  input.autocomplete = "off";
  input.spellcheck = false;
  attributes(input, {
    role: "combobox",
    "aria-label": "Search the documentation",
    "aria-expanded": "false",
    "aria-controls": "results",
    "aria-autocomplete": "list",
    "aria-keyshortcuts": "/",
  });
  list.id = "results";
  list.hidden = true;
  attributes(list, { role: "listbox", "aria-label": "Results" });
  status.className = "visually-hidden";
  status.setAttribute("role", "status");
  place.append(input, list, status);

  let index: Promise<ReturnType<typeof openIndex>> | undefined;
  let chosen = -1;
  const options = () => [...list.querySelectorAll<HTMLAnchorElement>("a")];
  const choose = (next: number) => {
    const all = options();
    chosen = all.length === 0 ? -1 : (next + all.length) % all.length;
    for (const [at, option] of all.entries()) option.setAttribute("aria-selected", String(at === chosen));
    all[chosen]?.scrollIntoView({ block: "nearest" });
    if (chosen < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", all[chosen]?.id ?? "");
  };
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    choose(-1);
    chosen = -1;
  };
  const show = (find: ReturnType<typeof openIndex>) => {
    const words = queryWords(input.value);
    if (words.length === 0) {
      status.textContent = "";
      return close();
    }
    const hits = find(words);
    list.replaceChildren(...(hits.length > 0 ? hits.map(optionOf) : [nothing(input.value)]));
    status.textContent = hits.length === 1 ? "1 result" : `${hits.length || "No"} results`;
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    choose(hits.length > 0 ? 0 : -1);
  };

  // The index is fetched once, when the input first gets the focus.
  const load = () =>
    (index ??= fetch("/docs/search.json")
      .then((response) => response.json() as Promise<SearchEntry[]>)
      .then(openIndex));
  const refresh = () =>
    load().then(show, () => {
      index = undefined;
      status.textContent = "The search can't be reached";
    });
  input.addEventListener("focus", () => void load().catch(() => (index = undefined)));
  input.addEventListener("input", () => void refresh());
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter") options()[chosen]?.click();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", close);
  document.addEventListener("click", ({ target }) => {
    if (target instanceof Node && !place.contains(target)) close();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
    const isShortcut = (event.key === "/" && !isTyping) || (event.key === "k" && (event.metaKey || event.ctrlKey));
    if (!isShortcut) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

/** A result. The link itself is the option, because an option can't contain a link. */
function optionOf({ entry: [page, heading, href], excerpt, marks }: Hit, at: number): HTMLLIElement {
  const line = document.createElement("li");
  const link = document.createElement("a");
  const title = document.createElement("span");
  const text = document.createElement("small");
  attributes(line, { role: "none" });
  attributes(link, { role: "option", id: `result-${at}`, href, tabindex: "-1", "aria-selected": "false" });
  title.append(...marked(heading ? `${page} › ${heading}` : page, marks));
  text.append(...marked(excerpt, marks));
  link.append(title, text);
  line.append(link);
  return line;
}

function nothing(query: string): HTMLLIElement {
  const line = document.createElement("li");
  line.className = "nothing";
  attributes(line, { role: "option", "aria-disabled": "true", "aria-selected": "false" });
  line.textContent = `No results for “${query.trim()}”.`;
  return line;
}

/** Text with its matches marked. */
function marked(text: string, words: readonly string[]): (Node | string)[] {
  const lower = text.toLowerCase();
  const at = words.flatMap((word) =>
    lower.includes(word) ? [{ from: lower.indexOf(word), length: word.length }] : [],
  );
  const parts: (Node | string)[] = [];
  let done = 0;
  for (const { from, length } of at.toSorted((one, other) => one.from - other.from)) {
    if (from < done) continue;
    const mark = document.createElement("mark");
    mark.textContent = text.slice(from, from + length);
    parts.push(text.slice(done, from), mark);
    done = from + length;
  }
  return [...parts, text.slice(done)];
}

function attributes(element: Element, values: Record<string, string>): void {
  for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
}
