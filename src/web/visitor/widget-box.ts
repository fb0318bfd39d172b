import { accentOf } from "../shared/accent.ts";
import { directionOf } from "./language.ts";
import { launcher } from "./launcher.ts";
import WIDGET_STYLE from "./style/widget.css";
import type { WidgetTexts } from "./widget-texts.ts";

/** What the button and the notice say. */
interface Shown {
  open: boolean;
  unread: number;
  /** The frame has no chat. */
  missing: boolean;
  texts: WidgetTexts;
}

/** The widget's element on the site: the button, and a box around it in which the frame has its place. */
export function widgetBox({ channel, position, offset, colorScheme, accent }: DOMStringMap, language: string) {
  const element = document.createElement("parley-chat");
  element.dataset.parley = channel;
  // Turbo's morph removes what the next page lacks, but not this.
  element.dataset.turboPermanent = "";
  const shadow = element.attachShadow({ mode: "open" });
  // The site's policy could block a style element, but not a constructed style sheet.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(WIDGET_STYLE);
  shadow.adoptedStyleSheets = [sheet];

  const box = document.createElement("div");
  box.lang = language;
  box.dir = directionOf(language);
  box.classList.toggle("left", position === "left");
  // Above what the site keeps at the bottom of its pages.
  if (Number(offset) > 0) box.style.setProperty("--offset", `${Number(offset)}px`);
  box.classList.toggle("dark", isDark(colorScheme));
  const { button, draw } = launcher();
  const count = document.createElement("span");
  count.className = "count";
  button.append(count);
  const notice = document.createElement("p");
  notice.className = "notice";
  notice.setAttribute("role", "status");
  box.append(notice, button);
  shadow.append(box);
  followKeyboard(box);

  return {
    element,
    box,
    button,

    describe({ open, unread, missing, texts }: Shown): void {
      box.classList.toggle("open", open);
      box.classList.toggle("missing", missing);
      draw(open);
      button.setAttribute("aria-expanded", `${open}`);
      // Screen readers announce only a text that changes.
      notice.textContent = missing && open ? texts.missing : "";
      const news = open ? 0 : unread;
      const action = open ? texts.close : texts.open;
      const label = news > 0 ? `${action}, ${texts.unread.replace("{count}", `${news}`)}` : action;
      button.setAttribute("aria-label", label);
      count.textContent = news > 99 ? "99+" : `${news || ""}`;
    },

    /** Takes the site's color, or the company's if that is not valid. */
    paint(companys?: string | null): void {
      const shades = accentOf("light", accent, companys);
      if (!shades) return;
      box.style.setProperty("--accent", shades.accent);
      box.style.setProperty("--accent-hover", shades.hover);
      box.style.setProperty("--on-accent", shades.onAccent);
    },
  };
}

function isDark(requested: string | undefined): boolean {
  return requested === "dark" || (requested !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

/** Fits the frame to the visible area above a phone's keyboard, which a frame can't detect. */
function followKeyboard(element: HTMLElement): void {
  const viewport = visualViewport;
  viewport?.addEventListener("resize", () => {
    const covered = viewport.scale === 1 && innerHeight - viewport.height > 1;
    element.style.setProperty("--height", covered ? `${viewport.height}px` : "100dvh");
  });
}
