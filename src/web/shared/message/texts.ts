/** What the parts of a message say, in the reader's language. `{name}` is a placeholder. */
export interface MessageTexts {
  /** In place of the text of a message of which nothing is left. */
  removed: string;
  /** Before the message that this one answers. */
  inReplyTo: string;
  /** A message that is answered, and not loaded. */
  earlierMessage: string;
  choices: string;
  /** Beside the choice that was tapped. */
  chosen: string;
  /** The alternative text of a picture without a caption. */
  pictureFrom: string;
  pictureGone: string;
  /** What opens a picture. */
  image: string;
  document: string;
  audio: string;
  video: string;
  /** What closes a picture that is shown large. */
  close: string;
}
