import type { ErrorCode } from "../../http/errors.ts";

/** What differs between the operations of the operator and those of keys that manage their organization. */
export interface Side {
  isOperator: boolean;
  /** Comes before the paths of an organization's lists. */
  prefix: "" | "/organizations/{id}";
  /** The error of a path with an organization. */
  ofOrganization: readonly ErrorCode[];
  /** In a description: whose lists they are. */
  whose: "an organization's" | "the organization's";
}

export const OPERATOR_SIDE: Side = {
  isOperator: true,
  prefix: "/organizations/{id}",
  ofOrganization: ["organization_not_found"],
  whose: "an organization's",
};

export const KEY_SIDE: Side = {
  isOperator: false,
  prefix: "",
  ofOrganization: [],
  whose: "the organization's",
};
