-- The live objects: any SQL client may read them.
CREATE TABLE resources (
  id INTEGER PRIMARY KEY,
  api_group TEXT NOT NULL,
  kind TEXT NOT NULL,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  resource_version INTEGER NOT NULL,
  generation INTEGER NOT NULL DEFAULT 1,
  uid TEXT NOT NULL,
  api_version TEXT NOT NULL,
  labels TEXT,
  created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at TIMESTAMP,
  object TEXT NOT NULL,
  -- Computed when somebody asks, so that writes do not pay for them.
  spec TEXT GENERATED ALWAYS AS (coalesce(object -> '$.spec', '{}')) VIRTUAL,
  status TEXT GENERATED ALWAYS AS (object -> '$.status') VIRTUAL,
  annotations TEXT GENERATED ALWAYS AS (object -> '$.metadata.annotations') VIRTUAL,
  finalizers TEXT GENERATED ALWAYS AS (object -> '$.metadata.finalizers') VIRTUAL,
  owner_references TEXT GENERATED ALWAYS AS (object -> '$.metadata.ownerReferences') VIRTUAL,
  managed_fields TEXT GENERATED ALWAYS AS (object -> '$.metadata.managedFields') VIRTUAL
);
CREATE UNIQUE INDEX resources_key ON resources (api_group, kind, namespace, name);

-- The log: the only source of watches.
CREATE TABLE changes (
  revision INTEGER PRIMARY KEY,
  type TEXT NOT NULL CHECK (type IN ('ADDED', 'MODIFIED', 'DELETED')),
  api_group TEXT NOT NULL,
  kind TEXT NOT NULL,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  uid TEXT NOT NULL,
  object TEXT NOT NULL,
  -- The body before. NULL for ADDED; NULL for DELETED too if it is the same as `object`.
  previous TEXT,
  previous_revision INTEGER
) STRICT;
CREATE INDEX changes_key ON changes (api_group, kind, namespace, name, revision);
CREATE INDEX changes_deleted ON changes (api_group, kind, namespace, name, revision) WHERE type = 'DELETED';

-- How many objects there are, so that nobody has to count.
CREATE TABLE counts (
  api_group TEXT NOT NULL,
  kind TEXT NOT NULL,
  namespace TEXT NOT NULL,
  objects INTEGER NOT NULL,
  PRIMARY KEY (api_group, kind, namespace)
) STRICT, WITHOUT ROWID;

-- One row. The log holds every change after `floor` up to `head`.
CREATE TABLE meta (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  head INTEGER NOT NULL,
  floor INTEGER NOT NULL,
  schema_version INTEGER NOT NULL,
  identity TEXT NOT NULL
) STRICT;
INSERT INTO meta (id, head, floor, schema_version, identity) VALUES (1, 1, 1, 1, lower(hex(randomblob(16))));
