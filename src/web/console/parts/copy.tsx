import { useSignal } from "@preact/signals";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { sayError } from "./toast.tsx";

const SHOWN_MS = 1_500;

/** Whether a text was just copied, and a function that copies it. */
function useCopying(text: string): [boolean, () => void] {
  const isCopied = useSignal(false);
  const copied = () => {
    isCopied.value = true;
    setTimeout(() => (isCopied.value = false), SHOWN_MS);
  };
  return [isCopied.value, () => void navigator.clipboard.writeText(text).then(copied, sayError)];
}

/** A short text in monospace that a click copies. */
export function Copyable({ text }: { text: string }) {
  const [isCopied, copy] = useCopying(text);
  return (
    <Button class="copyable" title="Copy" onClick={copy}>
      <code>{text}</code>
      <Icon name={isCopied ? "check" : "copy"} />
      <span class="hidden" role="status">
        {isCopied ? "Copied" : ""}
      </span>
    </Button>
  );
}

/** A button that copies a text which is shown beside it. */
export function CopyButton({ text }: { text: string }) {
  const [isCopied, copy] = useCopying(text);
  return (
    <Button onClick={copy}>
      <Icon name={isCopied ? "check" : "copy"} />
      <span role="status">{isCopied ? "Copied" : "Copy"}</span>
    </Button>
  );
}
