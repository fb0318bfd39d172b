import {
  canBeBot,
  DEFAULT_HAND_OVER_SECONDS,
  MAX_HAND_OVER_SECONDS,
  MIN_HAND_OVER_SECONDS,
} from "../../../model/handover.ts";
import type { Schemas } from "../api.ts";
import { plural } from "../format.ts";
import { MOST, useGet, usePlace } from "../organization.ts";
import { Button } from "../parts/button.tsx";
import { Select } from "../parts/controls.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { Box, Facts } from "../parts/facts.tsx";
import { Input } from "../parts/field.tsx";
import { forget } from "../resource.ts";
import { serviceNow } from "../service-clock.ts";
import { may } from "../session.ts";
import type { ChannelProps } from "./channel-kinds.ts";

/** Which key answers the new chats of a channel until people take over, and a way to change that. */
export function BotBox(props: ChannelProps) {
  const { bot } = props.channel.settings;
  const keys = useKeys() ?? [];
  return (
    <Box title="Bot">
      {bot ? (
        <Facts
          of={{
            Key: <bdi>{keys.find(({ id }) => id === bot.keyId)?.name ?? bot.keyId}</bdi>,
            "People get a chat": `After ${plural(bot.handOverAfterSeconds, "second")} without an answer`,
          }}
        />
      ) : (
        <p class="quiet">None. People answer all chats.</p>
      )}
      {may("channels:write") && <Button opens={<BotDialog {...props} />}>{bot ? "Change" : "Choose a bot"}</Button>}
    </Box>
  );
}

/** The organization's keys; null unless the person may read them, and they are few enough for a menu. */
function useKeys(): Schemas["Key"][] | null {
  const { data } = useGet(may("keys:read") ? "/keys" : null, { query: { limit: MOST } });
  return data && !data.pagination.hasMore ? data.keys : null;
}

function BotDialog({ channel: { id, settings }, onChannel }: ChannelProps) {
  const { api } = usePlace();
  const { bot } = settings;
  const keys = useKeys();
  const able = keys?.filter(({ permissions, draftsOnly, expiresAt, revokedAt }) =>
    canBeBot({ permissions, draftsOnly, expiresAt: timeIn(expiresAt), revokedAt: timeIn(revokedAt) }, serviceNow()),
  );
  const first = bot?.keyId ?? "";
  // Its key may have ended.
  const named = Object.fromEntries((able ?? []).map((key) => [key.id, key.name]));
  return (
    <FormDialog
      title="Bot"
      submit="Save"
      done="Saved"
      onSubmit={async ({ optional, number }) => {
        const keyId = optional("keyId");
        const handOverAfterSeconds = number("seconds") ?? DEFAULT_HAND_OVER_SECONDS;
        const body = { settings: { bot: keyId === null ? null : { keyId, handOverAfterSeconds } } };
        onChannel(await api.PATCH("/channels/{id}", { path: { id }, body }));
        forget("get /channels ");
      }}
    >
      <p class="stack">A program with this key answers new chats until people take over.</p>
      {able ? (
        <Select
          label="Key"
          path="settings.bot.keyId"
          name="keyId"
          hint="Keys that may send messages."
          options={{ "": "No bot", ...(first && { [first]: first }), ...named }}
          first={first}
        />
      ) : (
        <Input
          label="Key’s id"
          path="settings.bot.keyId"
          name="keyId"
          hint="Leave empty for no bot."
          placeholder="key_…"
          defaultValue={first}
        />
      )}
      <Input
        label="Seconds until people get a chat"
        path="settings.bot.handOverAfterSeconds"
        hint="Counted from the contact’s oldest message without an answer."
        name="seconds"
        type="number"
        min={MIN_HAND_OVER_SECONDS}
        max={MAX_HAND_OVER_SECONDS}
        placeholder={String(DEFAULT_HAND_OVER_SECONDS)}
        defaultValue={bot?.handOverAfterSeconds}
      />
    </FormDialog>
  );
}

function timeIn(text: string | null): number | null {
  return text === null ? null : Date.parse(text);
}
