import type { JSX } from "preact";
import { call, type Organization } from "../api.ts";
import { number } from "../format.ts";
import { usePlace } from "../organization.ts";
import { Button } from "../parts/button.tsx";
import { Copyable } from "../parts/copy.tsx";
import { openDialog } from "../parts/opened-dialog.tsx";
import { Fact, Facts, Screen } from "../parts/screen.tsx";
import { Time } from "../parts/time.tsx";
import { currentSession, may } from "../session.ts";
import { DeleteOrganization } from "./delete-organization.tsx";
import { Export } from "./export.tsx";
import { LimitsDialog, NameDialog } from "./organization-dialogs.tsx";
import { Retention } from "./retention.tsx";

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

/** The organization itself. */
export function Settings(): JSX.Element {
  const place = usePlace();
  const { organization } = place;
  const { id, name, jurisdiction, region, createdAt, limits, selfService } = organization;
  const isOperator = currentSession().type === "operator";
  const save = async (patch: object) => {
    const answer = await call<{ organization: Organization }>("PATCH", `/organizations/${id}`, patch);
    place.set(answer.organization);
  };
  return (
    <Screen title="Settings">
      <div class="grid">
        <section class="box">
          <BoxHead
            title="Organization"
            onChange={isOperator ? () => openDialog(<NameDialog name={name} onSave={save} />) : null}
          />
          <Facts>
            <Fact name="Name">
              <bdi>{name}</bdi>
            </Fact>
            <Fact name="Id">
              <Copyable text={id} />
            </Fact>
            <Fact name="Data stays in">
              {jurisdiction ? JURISDICTIONS[jurisdiction] : "Any place"}
              <p class="quiet">This never changes.</p>
            </Fact>
            <Fact name="Region">{region ? REGIONS[region] : "Near its first user"}</Fact>
            <Fact name="Created">
              <Time at={createdAt} long />
            </Fact>
          </Facts>
        </section>
        <section class="box">
          <BoxHead
            title="Limits"
            onChange={isOperator ? () => openDialog(<LimitsDialog organization={organization} onSave={save} />) : null}
          />
          <Facts>
            <Fact name="Chats">{ceiling(limits.chats)}</Fact>
            <Fact name="Members">{ceiling(limits.members)}</Fact>
            <Fact name="Templates">{ceiling(limits.templates)}</Fact>
            <Fact name="Channels">{ceiling(limits.channels)}</Fact>
            <Fact name="Self-service for keys">
              {selfService === null ? "Off: only the operator creates keys" : "On: members and keys can create keys"}
            </Fact>
            {selfService && (
              <>
                <Fact name="Keys">{ceiling(selfService.maxKeys)}</Fact>
                <Fact name="Requests per second, per key">{ceiling(selfService.maxPerSecond)}</Fact>
                <Fact name="Sum of monthly quotas">{ceiling(selfService.monthlyQuota)}</Fact>
              </>
            )}
          </Facts>
          {!isOperator && <p class="hint">Only the operator changes these.</p>}
        </section>
      </div>
      {may("channels:read") && <Retention />}
      {may("data:export") && <Export />}
      {isOperator && (
        <section class="section">
          <h2>Delete the organization</h2>
          <p class="stack">All its chats, messages, channels, keys and members are deleted.</p>
          <p>
            <Button class="button button-warns" opens={<DeleteOrganization organization={organization} />}>
              Delete
            </Button>
          </p>
        </section>
      )}
    </Screen>
  );
}

function BoxHead({ title, onChange }: { title: string; onChange: (() => void) | null }): JSX.Element {
  return (
    <header class="between">
      <h2>{title}</h2>
      {onChange && (
        <Button class="link note" onClick={onChange}>
          Change<span class="hidden"> {title.toLowerCase()}</span>
        </Button>
      )}
    </header>
  );
}

function ceiling(value: number | null): string {
  return value === null ? "No limit" : `At most ${number(value)}`;
}
