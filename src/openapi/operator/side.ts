/** What differs between the operations of the operator and those of keys that manage their organization. */
export interface Side {
  isOperator: boolean;
  /** Comes before the paths of an organization's lists. */
  prefix: "" | "/organizations/{id}";
  /** In a description: whose lists they are. */
  whose: "an organization's" | "the organization's";
}

export const OPERATOR_SIDE: Side = {
  isOperator: true,
  prefix: "/organizations/{id}",
  whose: "an organization's",
};

export const KEY_SIDE: Side = {
  isOperator: false,
  prefix: "",
  whose: "the organization's",
};
