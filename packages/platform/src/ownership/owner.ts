// Whose something outside the cluster is. Different apps can derive equal names, so everything that is made carries its
// owner, in a comment, a tag, an attribute or an annotation; whatever has another owner or none is not ours.

/** The Application or PreviewEnvironment that made something. */
export interface Owner {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Where the owner stands: the key of a tag, an attribute or an annotation, and the first word of a comment. */
export const ownerKey = "platform.internal/owner";

/** Beside it, on what was kept when its owner went. */
export const retainedKey = "platform.internal/retained";

/** `<uid> <namespace>/<name>`: characters that every one of those places takes. */
export function ownerText({ uid, namespace, name }: Owner): string {
  return `${uid} ${namespace}/${name}`;
}

/** Undefined for what nobody of ours has written. */
export function parseOwner(text: string | undefined): Owner | undefined {
  const [, uid, namespace, name] =
    /^([0-9a-f-]{1,64}) ([-a-z0-9]{1,63})\/([-.a-z0-9]{1,253})$/.exec(text ?? "") ?? [];
  if (uid === undefined || namespace === undefined || name === undefined) return undefined;
  return { uid, namespace, name };
}

/** Whether it is the same object, not only one of the same name. */
export function isOwnedBy(found: Owner | undefined, owner: Owner): boolean {
  return found?.uid === owner.uid;
}
