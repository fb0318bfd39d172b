import { MessageContent, type MessageView } from "../../shared/message/content.tsx";
import type { MediaView } from "../../shared/message/media.tsx";
import { TEXTS } from "./bubble.tsx";

/** A message that is not sent yet, as the contact will see it. */
export function PreviewMessage({ message, media = null }: { message: MessageView; media?: MediaView | null }) {
  return (
    <div class="message own">
      <MessageContent
        message={message}
        media={media}
        writer="Preview"
        quoted={undefined}
        tapped={null}
        onTap={null}
        reactors={{ contact: "", organization: "" }}
        texts={TEXTS}
      />
    </div>
  );
}
