import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "./icon.tsx";
import { sayError } from "./toast.tsx";

const DONE_MS = 1_500;

/** A text that is copied by a click. */
export function Copyable({ text, label }: { text: string; label: string }): JSX.Element {
  const [isDone, setDone] = useState(false);
  const copy = () => {
    navigator.clipboard.writeText(text).then(() => {
      setDone(true);
      setTimeout(() => setDone(false), DONE_MS);
    }, sayError);
  };
  return (
    <button type="button" class="copyable" title={`Copy ${label}`} onClick={copy}>
      <code>{text}</code>
      <Icon name={isDone ? "check" : "copy"} />
      <span class="hidden" role="status">
        {isDone ? "Copied" : ""}
      </span>
    </button>
  );
}
