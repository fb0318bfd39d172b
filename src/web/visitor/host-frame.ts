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
  onMessage(listener: (message: ToFrame) => void): void;
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
    onMessage: (listener) =>
      self.addEventListener("message", ({ data, source, origin: from }) => {
        if (source !== self.parent || from !== origin) return;
        if (data?.parley === "opened") listener({ parley: "opened", focus: data.focus === true });
        if (data?.parley === "closed") listener({ parley: "closed" });
      }),
  };
}
