/** What the widget tells the frame, and the frame the widget; anything else that arrives is not ours. */
export type ToFrame = { parley: "opened"; focus: boolean } | { parley: "closed" };
export type ToHost =
  | { parley: "unread"; count: number }
  | { parley: "close" }
  | { parley: "known" }
  | { parley: "here" };

/** The frame's line to the widget that holds it. */
export interface HostFrame {
  post(message: ToHost): void;
  onMessage(listener: (message: ToFrame) => void): void;
}

/**
 * The line to the embedding page, or null on a page of its own. The widget names its origin in the fragment: a message
 * is posted to that origin alone, and only that window speaking from that origin is listened to. A page that names a
 * foreign origin hears nothing.
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
