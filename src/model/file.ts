/** What is known of one of our files. `contentType` is what its first bytes say; the sides are of images and videos. */
export interface FileInfo {
  contentType: string;
  /** In bytes. */
  size: number;
  fileName: string | null;
  /** In pixels, as it is shown; null if it has none, or they are unknown. */
  width: number | null;
  height: number | null;
}
