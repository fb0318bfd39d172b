import type { Member } from "../api.ts";
import { plural } from "../format.ts";
import { usePlace } from "../organization.ts";
import { usePages } from "../pages.ts";
import { Avatar, Badge } from "../parts/badge.tsx";
import { Copyable } from "../parts/copy.tsx";
import { ListScreen, RowMain } from "../parts/list-screen.tsx";
import { roleOf } from "../parts/permission-picker.tsx";
import { now, Time } from "../parts/time.tsx";
import { forget } from "../resource.ts";
import { currentSession, may } from "../session.ts";
import { MemberActions, MemberDialog } from "./member-actions.tsx";

/** The minimum time after which the service records again that a member is here. */
const SEEN_MS = 3_600_000;

export function Members() {
  const { organization, api } = usePlace();
  const pages = usePages(`list /members ${organization.id}`, "page", async (query, signal) => {
    const { members, pagination } = await api.GET("/members", { query, signal });
    return { rows: members, pagination };
  });
  const changed = () => {
    // Other screens have the names too.
    forget("get /members");
    pages.rows.reload();
  };
  const add = <MemberDialog member={null} onMember={changed} />;
  return (
    <ListScreen
      title="Members"
      intro="Members sign in with a one-time link or a passkey. Each outbound message has a member as its sender."
      icon="members"
      pages={pages}
      create={may("members:write") ? { label: "Add a member", opens: add } : null}
      empty={{
        title: "No member",
        text: "Each outbound message has a member as its sender.",
        command: 'npx parley members create --name "Ann"',
      }}
    >
      {(member, n) => <MemberRow key={member.id} member={member} isFirst={n === 0} onChange={changed} />}
    </ListScreen>
  );
}

interface RowProps {
  member: Member;
  isFirst: boolean;
  onChange: () => void;
}

function MemberRow({ member, isFirst, onChange }: RowProps) {
  const { id, name, publicName, email, permissions, passkeys, createdAt, lastSeenAt } = member;
  return (
    <li class="row">
      <Avatar name={name} />
      <RowMain
        name={name}
        mark={
          <>
            {currentSession().member?.id === id && <Badge tone="good" label="You" />}
            {isFirst && (
              <span title="The sender of messages that don’t name one">
                <Badge tone="quiet" label="Default sender" />
              </span>
            )}
          </>
        }
      >
        {publicName !== null && (
          <p class="row-detail">
            Contacts see <bdi>{publicName}</bdi>
          </p>
        )}
        <p class="row-detail">{email === null ? "No email address" : <bdi>{email}</bdi>}</p>
        <p class="row-detail">
          <Copyable text={id} />
        </p>
      </RowMain>
      <p class="row-aside">
        <span title={permissions.join("\n")}>{roleOf(permissions)}</span>
        <span class="quiet">
          Added <Time at={createdAt} long />
          {passkeys > 0 && `, ${plural(passkeys, "passkey")}`}
        </span>
        <span class="quiet">
          {lastSeenAt === null ? (
            "Never signed in"
          ) : now.value - Date.parse(lastSeenAt) < SEEN_MS ? (
            "Seen within the hour"
          ) : (
            <>
              Last seen <Time at={lastSeenAt} long />
            </>
          )}
        </span>
      </p>
      {may("members:write") && <MemberActions member={member} onChange={onChange} />}
    </li>
  );
}
