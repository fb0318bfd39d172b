import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { call, type Organization } from "../api.ts";
import { Retention } from "../channels/retention.tsx";
import { LabelSettings } from "../labels/label-settings.tsx";
import { usePlace } from "../organization.ts";
import { Button, WarnButton } from "../parts/button.tsx";
import { Checkbox } from "../parts/controls.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Box, Facts } from "../parts/facts.tsx";
import { Screen } from "../parts/screen.tsx";
import { Time } from "../parts/time.tsx";
import { say, sayError } from "../parts/toast.tsx";
import { currentSession, may } from "../session.ts";
import { Export } from "./export.tsx";
import {
  CEILINGS,
  DeleteOrganization,
  LIMITS,
  LimitsDialog,
  limitsInWords,
  NameDialog,
} from "./organization-dialogs.tsx";
import { Passkeys } from "./passkeys.tsx";
import { SearchSetting } from "./search-setting.tsx";

const JURISDICTIONS = { eu: "European Union", us: "United States" };

const REGIONS: Record<string, string> = {
  wnam: "Western North America",
  enam: "Eastern North America",
  sam: "South America",
  weur: "Western Europe",
  eeur: "Eastern Europe",
  apac: "Asia-Pacific",
  oc: "Oceania",
  afr: "Africa",
  me: "Middle East",
};

export function Settings() {
  const place = usePlace();
  const { organization } = place;
  const { id, name, jurisdiction, region, createdAt, limits, selfService } = organization;
  const isOperator = currentSession().type === "operator";
  const save = async (patch: object) => {
    const answer = await call<{ organization: Organization }>("PATCH", `/organizations/${id}`, patch);
    place.set(answer.organization);
  };
  const rename = <NameDialog name={name} onSave={save} />;
  const limit = <LimitsDialog organization={organization} onSave={save} />;
  return (
    <Screen title="Settings">
      <div class="grid">
        <Box title="Organization" action={isOperator && <Change what="organization" opens={rename} />}>
          <Facts
            of={{
              Name: <bdi>{name}</bdi>,
              Id: <Copyable text={id} />,
              "Data stays in": (
                <>
                  {jurisdiction ? JURISDICTIONS[jurisdiction] : "Any place"}
                  <p class="quiet">This never changes.</p>
                </>
              ),
              Region: region ? REGIONS[region] : "Near its first user",
              Created: <Time at={createdAt} long />,
            }}
          />
        </Box>
        <Box title="Limits" action={isOperator && <Change what="limits" opens={limit} />}>
          <Facts
            of={{
              ...limitsInWords(LIMITS, limits),
              "Self-service for keys": selfService
                ? "On: members and keys can create keys"
                : "Off: only the operator creates keys",
              ...(selfService && limitsInWords(CEILINGS, selfService)),
            }}
          />
          {!isOperator && <p class="hint">Only the operator changes these.</p>}
        </Box>
      </div>
      <Team />
      <SearchSetting />
      {may("chats:read") && <LabelSettings />}
      {!isOperator && <Passkeys />}
      {may("channels:read") && <Retention />}
      {may("data:export") && <Export />}
      {isOperator && (
        <section class="section">
          <h2>Delete the organization</h2>
          <p class="stack">All its chats, messages, channels, keys and members are deleted.</p>
          <WarnButton opens={<DeleteOrganization organization={organization} />}>Delete</WarnButton>
        </section>
      )}
    </Screen>
  );
}

/** What the organization decides about its work. */
function Team() {
  const { organization, set, refresh, api } = usePlace();
  const { assignOnAnswer } = organization;
  useEffect(() => void refresh().catch(sayError), []);
  const change = async (body: { assignOnAnswer: boolean }) => {
    set((await api.PATCH("/organization", { body })).organization);
    say("Saved");
  };
  return (
    <section class="section">
      <h2>Team</h2>
      <Checkbox
        checked={assignOnAnswer}
        disabled={!may("members:write")}
        onChange={({ currentTarget }) => {
          change({ assignOnAnswer: currentTarget.checked }).catch((error: unknown) => {
            currentTarget.checked = assignOnAnswer;
            sayError(error);
          });
        }}
      >
        Assign a chat to the member who answers it
      </Checkbox>
      <p class="hint">
        Only in the console, and only if the chat is unassigned.
        {!may("members:write") && " To change it, you need the permission members:write."}
      </p>
    </section>
  );
}

function Change({ what, opens }: { what: string; opens: JSX.Element }) {
  return (
    <Button class="link note" opens={opens}>
      Change<span class="hidden"> {what}</span>
    </Button>
  );
}
