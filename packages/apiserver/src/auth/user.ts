// Who sends a request.

/** A caller, as authentication knows it and authorisation judges it. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Whoever shows no credentials. */
export const anonymous: User = {
  name: "system:anonymous",
  uid: "",
  groups: ["system:unauthenticated"],
  extra: {},
};

/** Whoever may do everything. */
export const mastersGroup = "system:masters";

/** Whoever is known. */
export const authenticatedGroup = "system:authenticated";

/** Whoever is not. */
export const unauthenticatedGroup = "system:unauthenticated";
