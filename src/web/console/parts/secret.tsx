import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { MainButton } from "./button.tsx";
import { CopyButton } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import { closeDialog } from "./opened-dialog.tsx";

interface SecretProps {
  title: string;
  secret: string;
  /** What the secret is for, and what to do if it is lost. */
  children: ComponentChildren;
  onSaved?: (() => void) | undefined;
}

/** Shows a text that the service shows only once. Nothing but its button closes it. */
export function SecretDialog({ title, secret, children, onSaved }: SecretProps) {
  useEffect(() => {
    // A closed tab would lose it.
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, []);
  return (
    <Dialog title={title} isClosable={false} wide>
      <p>It is shown only this once. {children}</p>
      <pre class="text">
        <code class="secret">{secret}</code>
      </pre>
      <div class="form-actions">
        <CopyButton text={secret} />
        <MainButton
          onClick={() => {
            closeDialog();
            onSaved?.();
          }}
        >
          I saved it
        </MainButton>
      </div>
    </Dialog>
  );
}
