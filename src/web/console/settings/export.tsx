import { useSignal } from "@preact/signals";
import { exportPart } from "../api.ts";
import { plural } from "../format.ts";
import { usePlace } from "../organization.ts";
import { Button } from "../parts/button.tsx";
import { saveFile } from "../parts/save-file.ts";
import { sayError } from "../parts/toast.tsx";

/** Downloads everything as one file. The service exports in parts, whose last lines say how to go on. */
export function Export() {
  const { organization } = usePlace();
  const running = useSignal<AbortController | null>(null);
  const count = useSignal(0);
  const download = async () => {
    const controller = new AbortController();
    running.value = controller;
    count.value = 0;
    const parts: string[] = [];
    try {
      for (let after: string | null = ""; after !== null; ) {
        const part = await exportPart(organization.id, after, controller.signal);
        const end = part.lastIndexOf("\n", part.length - 2) + 1;
        ({ next: after } = JSON.parse(part.slice(end)) as { next: string | null });
        parts.push(after === null ? part : part.slice(0, end));
        count.value++;
      }
      saveFile(`${organization.id}.ndjson`, parts);
    } catch (error) {
      if (!controller.signal.aborted) sayError(error);
    } finally {
      running.value = null;
    }
  };
  return (
    <section class="section">
      <h2>Export</h2>
      <p>All members, channels, templates, chats and messages, as lines of JSON, without secrets.</p>
      <p class="line">
        <Button onClick={() => (running.value ? running.value.abort() : void download())}>
          {running.value ? "Cancel" : "Download"}
        </Button>
        <span role="status">{running.value && `${plural(count.value, "part")} so far`}</span>
      </p>
    </section>
  );
}
