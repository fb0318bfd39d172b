import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";
import { Icon } from "./icon.tsx";
import { sayError } from "./toast.tsx";

interface SecretProps {
  title: string;
  secret: string;
  /** What the secret is for, and what to do if it is lost. */
  children: ComponentChildren;
  onClose: () => void;
}

/** Shows a text that the service shows only once. Nothing but its button closes it. */
export function SecretDialog({ title, secret, children, onClose }: SecretProps): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    // A closed tab would lose it.
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, []);
  return (
    <Dialog title={title} onClose={onClose} isClosable={false} wide>
      <div class="prose">{children}</div>
      <code class="secret">{secret}</code>
      <div class="form-actions">
        <button
          type="button"
          class="button"
          onClick={() => void navigator.clipboard.writeText(secret).then(() => setCopied(true), sayError)}
        >
          <Icon name={isCopied ? "check" : "copy"} />
          <span role="status">{isCopied ? "Copied" : "Copy"}</span>
        </button>
        <button type="button" class="button button-main" onClick={onClose}>
          I saved it
        </button>
      </div>
    </Dialog>
  );
}
