/** The texts of the console that more than one screen or part shows. */
export const WORDS = {
  product: "Parley",
  signIn: "Sign in",
  signOut: "Sign out",
  organizations: "Organizations",
  operator: "Operator",
  retry: "Try again",
} as const;
