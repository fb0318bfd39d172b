import { useGet, usePlace } from "../organization.ts";
import { Copyable } from "../parts/copy.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Form } from "../parts/form.tsx";
import { closeDialog } from "../parts/opened-dialog.tsx";
import { Loaded } from "../parts/states.tsx";
import { say } from "../parts/toast.tsx";
import { mayManage } from "./webhook-list.tsx";

/** An event as a call has it now, with a button that sends it again. */
export function EventDialog({ id, eventId }: { id: string; eventId: string }) {
  const { api } = usePlace();
  const event = useGet("/events/{id}", { path: { id: eventId } });
  return (
    <Dialog title="Event" wide onClose={closeDialog}>
      <p class="note">
        <Copyable text={eventId} />
      </p>
      <Loaded resource={event} rows={3}>
        {({ event: found }) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by the keyboard
          <pre tabIndex={0}>
            <code>{JSON.stringify(found, null, 2)}</code>
          </pre>
        )}
      </Loaded>
      {mayManage() && (
        <Form
          submit="Send again"
          onCancel={closeDialog}
          onSubmit={async () => {
            await api.POST("/webhooks/{id}/replays", { path: { id }, body: { eventId } });
            closeDialog();
            say("Sent again");
          }}
        >
          {null}
        </Form>
      )}
    </Dialog>
  );
}
