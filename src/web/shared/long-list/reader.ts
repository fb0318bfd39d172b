/** How near to the end counts as being at the end, in pixels. */
const AT_END = 80;

/**
 * The place of a reader in a list: its end, which they follow, or a message, which stays where it is.
 * @param box the box that scrolls
 */
export function readerOf(box: { current: Element | null }) {
  let isFollowing = true;
  /** The number of the newest message, and of the one that was the newest when the reader was last at the end. */
  let newest = 0;
  let seen = 0;
  /** The first message in view, and how far its end is from the upper edge. Its first line may go: the name of who wrote. */
  let anchor: Element | undefined;
  let anchorEnd = 0;
  /** How far the box could be scrolled. */
  let formerRoom = 0;

  const endOf = (message: Element) =>
    message.getBoundingClientRect().bottom - (box.current?.getBoundingClientRect().top ?? 0);

  /** Keeps the place. */
  function hold(): void {
    if (isFollowing) seen = newest;
    anchor = [...(box.current?.querySelectorAll(".message") ?? [])].find((message) => endOf(message) > 0);
    anchorEnd = anchor ? endOf(anchor) : 0;
  }

  /** Puts the reader back to the place. */
  function settle(): void {
    const { current: scroller } = box;
    if (!scroller) return;
    // The browser reports the reader's scrolling late, so what changes no height takes nobody back to the end.
    const room = scroller.scrollHeight - scroller.clientHeight;
    if (isFollowing) {
      if (room !== formerRoom) scroller.scrollTop = room;
    } else if (anchor?.isConnected) {
      const moved = endOf(anchor) - anchorEnd;
      // Less than a pixel is only a rounded height.
      if (Math.abs(moved) >= 1) scroller.scrollTop += moved;
    }
    formerRoom = room;
    hold();
  }

  return {
    hold,
    settle,
    /** Other lines are about to be drawn. @param next the number of the newest message */
    plan(next: number): void {
      hold();
      newest = next;
    },
    /** How many messages are new below what the reader sees. */
    below: () => (isFollowing ? 0 : newest - seen),
    /** The reader stays where they are, whatever comes at the end. */
    stay: () => void (isFollowing = false),
    /** The reader has scrolled. @returns whether they began to follow the end, or ended that */
    onScroll(): boolean {
      const { current: scroller } = box;
      const wasFollowing = isFollowing;
      if (!scroller) return false;
      const room = scroller.scrollHeight - scroller.clientHeight;
      // What made the box smaller has not taken the reader from the end.
      if (isFollowing && room > formerRoom) settle();
      else isFollowing = room - scroller.scrollTop < AT_END;
      hold();
      return wasFollowing !== isFollowing;
    },
    toEnd(): void {
      isFollowing = true;
      formerRoom = Number.NaN;
      settle();
    },
  };
}
