/** The messages from the widget to the frame, and from the frame to the widget. */
export type ToFrame = { parley: "opened"; focus: boolean } | { parley: "closed" };
export type ToHost =
  | { parley: "unread"; count: number }
  | { parley: "message"; seq: number; direction: "INBOUND" | "OUTBOUND" }
  | { parley: "close" }
  | { parley: "known" }
  | { parley: "here" };

/** The frame's connection to its widget. */
export interface HostFrame {
  post(message: ToHost): void;
  /** Reports when the site's visitor opens or closes the chat. @param listener also gets whether the chat takes the focus */
  onOpened(listener: (isOpened: boolean, takesFocus: boolean) => void): void;
}

/**
 * Connects the frame to the embedding page. Returns null outside a frame. The fragment names the embedding page's origin.
 * Messages go only to that origin, and are only accepted from the parent window at that origin.
 */
export function hostFrame(fragment: URLSearchParams, self: Window): HostFrame | null {
  const origin = fragment.get("host");
  if (!origin || self.parent === self) return null;
  return {
    post: (message) => self.parent.postMessage(message, origin),
    onOpened: (listener) =>
      self.addEventListener("message", ({ data, source, origin: from }) => {
        if (source !== self.parent || from !== origin) return;
        const isOpened = data?.parley === "opened";
        if (isOpened || data?.parley === "closed") listener(isOpened, isOpened && data.focus === true);
      }),
  };
}
