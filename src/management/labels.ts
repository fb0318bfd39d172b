import * as z from "zod/mini";
import { callOrganization, type OrganizationStub } from "../calls/call-organization.ts";
import { readOrganization } from "../db/active-organization.ts";
import { directory } from "../db/client.ts";
import { rowOf } from "../db/rows.ts";
import { organizations } from "../db/schema.ts";
import { newIdOf, type RequestAct } from "../keys/audited.ts";
import { noOrganization, type Scope } from "../model/caller.ts";
import { ApiError } from "../model/error.ts";
import { optional, requiredText } from "../model/field.ts";
import { type Label, type LabelAnswer, MAX_LABEL_NAME } from "../model/label.ts";

const name = requiredText(MAX_LABEL_NAME);
const color = z.string().check(z.regex(/^#[0-9A-Fa-f]{6}$/, "must be a color such as #2f80ed"));

/** The body of `POST /labels`. */
export const newLabelBody = z.object({ name, color: optional(color) });

/** The body of `PATCH /labels/{labelId}`. A color that is null is removed. */
export const labelPatch = z
  .object({ name: z.optional(name), color: z.nullish(color) })
  .check(z.refine((patch) => Object.values(patch).some((value) => value !== undefined), "must have a name or a color"));

/** An organization's labels, the oldest first. @throws ApiError as `noOrganization` */
export async function listLabels(env: Env, scope: Scope, organizationId: string): Promise<Label[]> {
  // The object of an organization that does not exist has none either.
  if (scope === "any") await rowOf(directory(env), scope, organizations, organizationId, noOrganization(scope));
  return callOrganization(env, organizationId, (organization) => organization.labels());
}

/** Adds a label to an organization. @throws ApiError `label_exists`, `label_limit`; as `noOrganization` */
export async function createLabel(
  env: Env,
  scope: Scope,
  act: RequestAct,
  body: z.output<typeof newLabelBody>,
): Promise<Label> {
  const { organizationId } = act;
  // The object takes labels until the end of the organization's deletion.
  if (!(await readOrganization(env, organizationId))) throw new ApiError(noOrganization(scope));
  const label = { id: newIdOf(act), name: body.name, color: body.color ?? null };
  const add = (organization: OrganizationStub) => organization.addLabel(label);
  return labelIn(scope, await callOrganization(env, organizationId, add));
}

/** Changes a label. @throws ApiError `label_not_found`, `label_exists` */
export async function patchLabel(
  env: Env,
  scope: Scope,
  { organizationId }: RequestAct,
  id: string,
  patch: z.output<typeof labelPatch>,
): Promise<Label> {
  const change = (organization: OrganizationStub) => organization.changeLabel(id, patch);
  return labelIn(scope, await callOrganization(env, organizationId, change));
}

/** Deletes a label: no chat shows it from the answer on. @throws ApiError `label_not_found` */
export async function deleteLabel(env: Env, scope: Scope, { organizationId }: RequestAct, id: string): Promise<Label> {
  const remove = (organization: OrganizationStub, isRepeat: boolean) => organization.deleteLabel(id, isRepeat);
  return labelIn(scope, await callOrganization(env, organizationId, remove));
}

function labelIn(scope: Scope, answer: LabelAnswer): Label {
  if (answer.outcome === "ok") return answer.label;
  throw new ApiError(answer.outcome === "no_organization" ? noOrganization(scope) : answer.outcome);
}
