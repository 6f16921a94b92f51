// Every statement of the SQLite backend, by name. The name reaches errors and the `onStatement` hook.

import type { LabelRequirement } from "../selector.ts";

const entry =
  "revision, type, api_group, kind, namespace, name, uid, object, previous, previous_revision";

export const statements = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  rollback: "ROLLBACK",
  selectBounds: "SELECT head, floor FROM meta",
  updateHead: "UPDATE meta SET head = ?",
  updateBounds: "UPDATE meta SET head = ?, floor = ?",

  selectObject: `SELECT resource_version, uid, object FROM objects
    WHERE api_group = ? AND kind = ? AND namespace = ? AND name = ?`,
  insertObject: `INSERT INTO objects
    (api_group, kind, namespace, name, resource_version, uid, api_version, generation, labels, deleted_at, object, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  updateObject: `UPDATE objects SET resource_version = ?, uid = ?, api_version = ?, generation = ?,
    labels = ?, deleted_at = ?, object = ?, updated_at = ?
    WHERE api_group = ? AND kind = ? AND namespace = ? AND name = ?`,
  deleteObject: `DELETE FROM objects WHERE api_group = ? AND kind = ? AND namespace = ? AND name = ?`,
  insertChange: `INSERT INTO changes
    (revision, type, api_group, kind, namespace, name, uid, object, previous, previous_revision)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  insertReplacement: `INSERT INTO changes
    (revision, type, api_group, kind, namespace, name, uid, object, previous, previous_revision)
    SELECT ?, 'MODIFIED', api_group, kind, namespace, name, uid, ?, object, resource_version FROM objects
    WHERE api_group = ? AND kind = ? AND namespace = ? AND name = ? AND resource_version = ? AND uid = ?`,
  addCount: `INSERT INTO counts (api_group, kind, namespace, objects) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET objects = objects + excluded.objects`,

  selectLog: `SELECT ${entry} FROM changes WHERE revision > ? AND revision <= ? ORDER BY revision LIMIT ?`,
  selectHistory: `SELECT ${entry} FROM changes
    WHERE api_group = ? AND kind = ? AND namespace = ? AND name = ? AND revision < ?
    ORDER BY revision DESC LIMIT ?`,
  selectFirstChangeAfter: `SELECT ${entry} FROM changes
    WHERE api_group = ? AND kind = ? AND namespace = ? AND name = ? AND revision > ?
    ORDER BY revision LIMIT 1`,

  selectCount: `SELECT coalesce(sum(objects), 0) AS objects FROM counts
    WHERE api_group = ? AND kind = ? AND (? = '' OR namespace = ?)`,
  selectCounts:
    "SELECT api_group, kind, sum(objects) AS objects FROM counts GROUP BY api_group, kind",
  selectGrowthSince: `SELECT coalesce(sum(CASE type WHEN 'ADDED' THEN 1 WHEN 'DELETED' THEN -1 ELSE 0 END), 0) AS objects
    FROM changes WHERE revision > ? AND api_group = ? AND kind = ? AND (? = '' OR namespace = ?)`,

  // The first entry that stays. How long a body is stands before it: none is read.
  selectCut: `SELECT min(revision) AS revision FROM (
      SELECT revision, row_number() OVER (ORDER BY revision) AS place, sum(size) OVER (ORDER BY revision) AS bytes
      FROM (SELECT revision, octet_length(object) + coalesce(octet_length(previous), 0) AS size
        FROM changes WHERE revision <= ? ORDER BY revision LIMIT ? + 1))
    WHERE place > ? OR (place > 1 AND bytes > ?)`,
  deleteChanges: "DELETE FROM changes WHERE revision <= ?",
  forgetCounts: "DELETE FROM counts WHERE objects = 0",
  // Two questions about the ends of the log: asked as one, SQLite walks through all of it. A leap leaves entries below the floor.
  selectSize: `SELECT max(0, coalesce((SELECT max(revision) FROM changes), 0)
      - max(floor, coalesce((SELECT min(revision) FROM changes), 1) - 1)) AS log_rows,
    (SELECT page_count FROM pragma_page_count()) * (SELECT page_size FROM pragma_page_size()) AS bytes FROM meta`,
} as const;

export type StatementName = keyof typeof statements | keyof typeof built;

/** A stretch of a collection: after one key, up to and including another if bounded. */
export interface Stretch {
  /** Whether the scope is one namespace. */
  readonly isNamespaced: boolean;
  readonly isBounded: boolean;
  /** Whether only one name is wanted. */
  readonly isNamed: boolean;
}

/** Statements whose text depends on the request; their rows are arrays. Parameters: see `stretchParameters` in scan.ts. */
export const built = {
  /** The key of the n-th object of a stretch. */
  selectNthKey: (stretch: Stretch) =>
    `SELECT namespace, name FROM objects WHERE ${within(stretch)} ORDER BY namespace, name LIMIT 1 OFFSET ?`,

  /** All keys of a stretch, from the index alone. */
  selectKeys: (stretch: Stretch) =>
    `SELECT namespace, name FROM objects WHERE ${within(stretch)} ORDER BY namespace, name LIMIT ?`,

  /**
   * The objects of a stretch; those changed after a revision come whatever their labels are now. SQLite says whether a body is
   * JSON: in a third of the time that reading it here takes.
   */
  selectRows: (stretch: Stretch, labels: readonly LabelRequirement[]) =>
    `SELECT name, resource_version, uid, object, json_valid(object)${stretch.isNamespaced ? "" : ", namespace"}
     FROM objects WHERE ${within(stretch)}
     ${labels.length === 0 ? "" : `AND (resource_version > ? OR (${labels.map(labelCondition).join(" AND ")}))`}
     ORDER BY namespace, name LIMIT ?`,

  /** The keys of a stretch whose objects were deleted after a revision. */
  selectDeletedKeys: (stretch: Stretch) =>
    `SELECT DISTINCT namespace, name FROM changes WHERE ${within(stretch)}
     AND type = 'DELETED' AND revision > ? ORDER BY namespace, name LIMIT ?`,
} as const;

function within({ isNamespaced, isBounded, isNamed }: Stretch): string {
  const place = isNamespaced
    ? `namespace = ? AND name > ?${isBounded ? " AND name <= ?" : ""}`
    : `(namespace, name) > (?, ?)${isBounded ? " AND (namespace, name) <= (?, ?)" : ""}`;
  return `api_group = ? AND kind = ? AND ${place}${isNamed ? " AND name = ?" : ""}`;
}

/** One condition on a label; parameters as `labelParameters` gives them. */
function labelCondition(requirement: LabelRequirement): string {
  const value = "(SELECT value FROM json_each(labels) WHERE key = ? AND type = 'text')";
  switch (requirement.operator) {
    case "In":
      return `${value} IN (${requirement.values.map(() => "?").join(", ")})`;
    case "NotIn":
      return `coalesce(${value} NOT IN (${requirement.values.map(() => "?").join(", ")}), TRUE)`;
    case "Exists":
      return `${value} IS NOT NULL`;
    case "DoesNotExist":
      return `${value} IS NULL`;
    case "Gt":
      return `CAST(${value} AS INTEGER) > CAST(? AS INTEGER)`;
    case "Lt":
      return `CAST(${value} AS INTEGER) < CAST(? AS INTEGER)`;
  }
}

/** The parameters of one condition on a label. */
export function labelParameters(requirement: LabelRequirement): readonly string[] {
  switch (requirement.operator) {
    case "In":
    case "NotIn":
      return [requirement.key, ...requirement.values];
    case "Exists":
    case "DoesNotExist":
      return [requirement.key];
    case "Gt":
    case "Lt":
      return [requirement.key, requirement.value];
  }
}
