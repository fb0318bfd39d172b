/** The content types that every browser shows as a picture. */
const PICTURE = /^image\/(jpeg|png|gif|webp)$/;

/** The highest picture and the widest one, and the width of one whose sides are unknown. In pixels. */
const MAX_HEIGHT = 320;
const MAX_WIDTH = 420;
const UNKNOWN_WIDTH = 280;
/** Wide enough for a finger. */
const MIN_WIDTH = 24;

export function isPicture(contentType: string): boolean {
  return PICTURE.test(contentType);
}

/** The box of a picture before it has come, so that nothing moves when it does. Sides that are unknown are 4 to 3. */
export function pictureBox({ width, height }: { width?: number | null; height?: number | null } = {}) {
  if (!width || !height) return { width: `${UNKNOWN_WIDTH}px`, aspectRatio: "4 / 3" };
  const shown = Math.min(width, MAX_WIDTH, (MAX_HEIGHT * width) / height);
  return { width: `${Math.max(MIN_WIDTH, Math.round(shown))}px`, aspectRatio: `${width} / ${height}` };
}
