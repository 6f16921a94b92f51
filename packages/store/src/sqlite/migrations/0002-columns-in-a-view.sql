-- The objects are in a table of their own, and what any SQL client may read of them is a view over it. SQLite computes generated
-- columns at every write, virtual ones too; a view computes what it is asked for. Nothing is copied: those columns were never stored.
ALTER TABLE resources DROP COLUMN spec;
ALTER TABLE resources DROP COLUMN status;
ALTER TABLE resources DROP COLUMN annotations;
ALTER TABLE resources DROP COLUMN finalizers;
ALTER TABLE resources DROP COLUMN owner_references;
ALTER TABLE resources DROP COLUMN managed_fields;
ALTER TABLE resources RENAME TO objects;

-- The live objects, with the columns that they always had. The casts give the computed ones their type.
CREATE VIEW resources AS SELECT
  id, api_group, kind, namespace, name, resource_version, generation, uid, api_version, labels,
  created_at, updated_at, deleted_at, object,
  CAST(coalesce(object -> '$.spec', '{}') AS TEXT) AS spec,
  CAST(object -> '$.status' AS TEXT) AS status,
  CAST(object -> '$.metadata.annotations' AS TEXT) AS annotations,
  CAST(object -> '$.metadata.finalizers' AS TEXT) AS finalizers,
  CAST(object -> '$.metadata.ownerReferences' AS TEXT) AS owner_references,
  CAST(object -> '$.metadata.managedFields' AS TEXT) AS managed_fields
FROM objects;
