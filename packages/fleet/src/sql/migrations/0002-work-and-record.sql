-- The work queue, the history, the targets, and the events that commit with what they tell of.

CREATE TABLE resource_attempts (
  resource_id INTEGER PRIMARY KEY REFERENCES resources(id) ON DELETE CASCADE,
  cluster_id VARCHAR(100) NOT NULL,
  due_at TIMESTAMPTZ, -- NULL: nothing to do.
  requests BIGINT NOT NULL DEFAULT 0, -- One more each time that work is asked for: a claim sees what came meanwhile.
  attempts INTEGER NOT NULL DEFAULT 0,
  failed_generation INTEGER,
  error_class TEXT CHECK (error_class IN (
    'invalid', 'immutable', 'forbidden', 'conflict', 'no-kind', 'no-namespace', 'throttled', 'server', 'timeout',
    'internal')),
  http_status INTEGER,
  error_message TEXT,
  last_attempt_at TIMESTAMPTZ,
  lease_owner TEXT,
  lease_until TIMESTAMPTZ,
  fence BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX idx_attempts_due ON resource_attempts(cluster_id, due_at) WHERE due_at IS NOT NULL;

CREATE TABLE resource_revisions (
  resource_id INTEGER NOT NULL REFERENCES resources(id) ON DELETE CASCADE,
  generation INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  api_version VARCHAR(100),
  desired_spec JSONB NOT NULL,
  actor TEXT NOT NULL,
  change_set UUID,
  created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  PRIMARY KEY (resource_id, generation)
);
CREATE INDEX idx_revisions_revision ON resource_revisions(resource_id, revision, generation);

CREATE TABLE targets (
  cluster_id VARCHAR(100) PRIMARY KEY,
  credential BYTEA, -- A kubeconfig, encrypted.
  in_process BOOLEAN NOT NULL DEFAULT false, -- A server of the process itself.
  agent BOOLEAN NOT NULL DEFAULT false, -- Served by a worker inside the cluster.
  server TEXT,
  labels JSONB NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(labels) = 'object'),
  paused BOOLEAN NOT NULL DEFAULT false,
  health TEXT NOT NULL DEFAULT 'Unknown' CHECK (health IN ('Unknown', 'Healthy', 'Degraded', 'Unreachable')),
  health_message TEXT,
  last_contact_at TIMESTAMPTZ,
  lease_owner TEXT,
  lease_until TIMESTAMPTZ,
  fence BIGINT NOT NULL DEFAULT 0,
  created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  updated_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  CHECK ((credential IS NOT NULL)::integer + in_process::integer + agent::integer = 1)
) WITH (fillfactor = 70);

CREATE TABLE global_resource_placements (
  global_id INTEGER NOT NULL REFERENCES global_resources(id) ON DELETE CASCADE,
  cluster_id VARCHAR(100) NOT NULL,
  resource_id INTEGER REFERENCES resources(id) ON DELETE SET NULL,
  synced_generation INTEGER,
  state TEXT NOT NULL DEFAULT 'placed' CHECK (state IN ('placed', 'conflict', 'leaving')),
  PRIMARY KEY (global_id, cluster_id)
);

CREATE TABLE resource_tombstones (
  resource_id INTEGER PRIMARY KEY,
  cluster_id VARCHAR(100) NOT NULL,
  namespace VARCHAR(255) NOT NULL,
  api_group TEXT NOT NULL,
  kind VARCHAR(255) NOT NULL,
  name VARCHAR(255) NOT NULL,
  uid TEXT,
  purged_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
CREATE INDEX idx_tombstones_purged_at ON resource_tombstones(purged_at);

-- Events as their transactions write them; a numbering step moves them to `events`. An id handed out before commit
-- would appear after a larger one was read.
CREATE TABLE events_unnumbered (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
  type TEXT NOT NULL,
  resource_id INTEGER,
  cluster_id VARCHAR(100),
  actor TEXT NOT NULL,
  change_set UUID,
  data JSONB NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

CREATE TABLE events (
  id BIGINT PRIMARY KEY,
  at TIMESTAMPTZ NOT NULL,
  type TEXT NOT NULL,
  resource_id INTEGER,
  cluster_id VARCHAR(100),
  actor TEXT NOT NULL,
  change_set UUID,
  data JSONB NOT NULL
);
CREATE INDEX idx_events_at ON events(at);
CREATE INDEX idx_events_resource_id ON events(resource_id, id) WHERE resource_id IS NOT NULL;
