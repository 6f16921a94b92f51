-- What users declare, what controllers report, and when to announce again; for clusters and, alike, for nodepools.

CREATE TABLE clusters (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name varchar(255) NOT NULL,
  spec jsonb NOT NULL DEFAULT '{}',
  status jsonb, -- cached aggregate
  status_dirty boolean DEFAULT true,
  created_by varchar(255) NOT NULL, -- owner
  generation bigint NOT NULL DEFAULT 1, -- optimistic concurrency
  created_at timestamptz DEFAULT now(),
  updated_at timestamptz DEFAULT now(),
  target_project_id varchar(255),
  organization_id varchar(255),
  resource_version varchar(255) NOT NULL DEFAULT gen_random_uuid()::text,
  status_revision bigint NOT NULL DEFAULT 0, -- +1 by every write that can change the status
  status_expires_at timestamptz, -- when time alone changes the status
  generation_changed_at timestamptz NOT NULL DEFAULT now(),
  deletion_timestamp timestamptz, -- deletion requested
  deleted_at timestamptz -- gone: tombstone until purged
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX clusters_live_name ON clusters (created_by, name) WHERE deleted_at IS NULL;
CREATE INDEX clusters_page ON clusters (created_by, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX clusters_page_all ON clusters (created_at DESC, id DESC) WHERE deleted_at IS NULL; -- controllers
CREATE INDEX clusters_stale ON clusters (id) WHERE status_dirty AND deleted_at IS NULL;
CREATE INDEX clusters_expiring ON clusters (status_expires_at)
  WHERE status_expires_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX clusters_deleting ON clusters (id) WHERE deletion_timestamp IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX clusters_gone ON clusters (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE controller_status (
  cluster_id uuid NOT NULL REFERENCES clusters(id) ON DELETE CASCADE,
  controller_name varchar(255) NOT NULL,
  observed_generation bigint NOT NULL DEFAULT 1,
  conditions jsonb NOT NULL DEFAULT '[]',
  metadata jsonb NOT NULL DEFAULT '{}',
  last_error jsonb,
  updated_at timestamptz DEFAULT now(), -- set by the report, never by a trigger
  PRIMARY KEY (cluster_id, controller_name)
);

CREATE TABLE reconciliation_schedule (
  cluster_id uuid PRIMARY KEY REFERENCES clusters(id) ON DELETE CASCADE,
  next_reconcile_at timestamptz NOT NULL,
  enabled boolean DEFAULT true,
  created_at timestamptz DEFAULT now(),
  updated_at timestamptz DEFAULT now(),
  last_reconciled_at timestamptz,
  attention boolean NOT NULL DEFAULT true,
  unanswered integer NOT NULL DEFAULT 0
) WITH (fillfactor = 80);
CREATE INDEX schedule_due ON reconciliation_schedule (attention DESC, next_reconcile_at) WHERE enabled;

CREATE TABLE nodepools (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  cluster_id uuid NOT NULL REFERENCES clusters(id) ON DELETE CASCADE,
  name varchar(255) NOT NULL,
  spec jsonb NOT NULL DEFAULT '{}',
  status jsonb,
  status_dirty boolean DEFAULT true,
  created_by varchar(255) NOT NULL, -- the cluster's owner
  generation bigint NOT NULL DEFAULT 1,
  created_at timestamptz DEFAULT now(),
  updated_at timestamptz DEFAULT now(),
  target_project_id varchar(255),
  organization_id varchar(255),
  resource_version varchar(255) NOT NULL DEFAULT gen_random_uuid()::text,
  status_revision bigint NOT NULL DEFAULT 0,
  status_expires_at timestamptz,
  generation_changed_at timestamptz NOT NULL DEFAULT now(),
  deletion_timestamp timestamptz,
  deleted_at timestamptz
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX nodepools_live_name ON nodepools (cluster_id, name) WHERE deleted_at IS NULL;
CREATE INDEX nodepools_page ON nodepools (created_by, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX nodepools_page_all ON nodepools (created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX nodepools_of_cluster ON nodepools (cluster_id);
CREATE INDEX nodepools_stale ON nodepools (id) WHERE status_dirty AND deleted_at IS NULL;
CREATE INDEX nodepools_expiring ON nodepools (status_expires_at)
  WHERE status_expires_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX nodepools_deleting ON nodepools (id) WHERE deletion_timestamp IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX nodepools_gone ON nodepools (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE nodepool_controller_status (
  nodepool_id uuid NOT NULL REFERENCES nodepools(id) ON DELETE CASCADE,
  controller_name varchar(255) NOT NULL,
  observed_generation bigint NOT NULL DEFAULT 1,
  conditions jsonb NOT NULL DEFAULT '[]',
  metadata jsonb NOT NULL DEFAULT '{}',
  last_error jsonb,
  updated_at timestamptz DEFAULT now(),
  PRIMARY KEY (nodepool_id, controller_name)
);

CREATE TABLE nodepool_reconciliation_schedule (
  nodepool_id uuid PRIMARY KEY REFERENCES nodepools(id) ON DELETE CASCADE,
  next_reconcile_at timestamptz NOT NULL,
  enabled boolean DEFAULT true,
  created_at timestamptz DEFAULT now(),
  updated_at timestamptz DEFAULT now(),
  last_reconciled_at timestamptz,
  attention boolean NOT NULL DEFAULT true,
  unanswered integer NOT NULL DEFAULT 0
) WITH (fillfactor = 80);
CREATE INDEX nodepool_schedule_due
  ON nodepool_reconciliation_schedule (attention DESC, next_reconcile_at) WHERE enabled;

-- Who is expected to report, and whose word a deletion waits for. No platform means every platform.
CREATE TABLE controllers (
  name varchar(255) PRIMARY KEY,
  kinds text[] NOT NULL DEFAULT '{}',
  platforms text[] NOT NULL DEFAULT '{}',
  finalizer boolean NOT NULL DEFAULT false,
  retired_at timestamptz
);

-- Whom the deletion of a resource waits for, from the moment it was asked for.
CREATE TABLE finalizers (
  kind text NOT NULL CHECK (kind IN ('cluster', 'nodepool')),
  resource_id uuid NOT NULL,
  controller_name varchar(255) NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now(),
  finalized_at timestamptz,
  PRIMARY KEY (kind, resource_id, controller_name)
);
CREATE INDEX finalizers_open ON finalizers (controller_name) WHERE finalized_at IS NULL;

-- History. An event has here the position that it has in the outbox; a denial is no event and has none.
CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  position bigint UNIQUE,
  at timestamptz NOT NULL DEFAULT now(),
  actor text NOT NULL,
  action text NOT NULL,
  kind text,
  resource_id uuid,
  data jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_of_resource ON audit (resource_id, position DESC) WHERE position IS NOT NULL;
CREATE INDEX audit_at ON audit (at);
