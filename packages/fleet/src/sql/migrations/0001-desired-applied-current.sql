-- What users want, what was sent, and what the clusters say: one table and one writer each.

-- apps of apps/v1; nothing of v1.
CREATE FUNCTION api_group_of(api_version text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN api_version LIKE '%/%' THEN split_part(api_version, '/', 1) ELSE '' END $$;

CREATE TABLE global_resources (
  id SERIAL PRIMARY KEY,
  namespace VARCHAR(255) NOT NULL,
  kind VARCHAR(255) NOT NULL,
  name VARCHAR(255) NOT NULL,
  api_version VARCHAR(100),
  desired_spec JSONB NOT NULL CHECK (jsonb_typeof(desired_spec) = 'object'),
  generation INTEGER DEFAULT 1 NOT NULL,
  revision INTEGER DEFAULT 1 NOT NULL CHECK (revision >= 1),
  created_at TIMESTAMP DEFAULT NOW(),
  updated_at TIMESTAMP DEFAULT NOW(),
  deleted_at TIMESTAMP,
  api_group TEXT NOT NULL GENERATED ALWAYS AS (api_group_of(api_version)) STORED,
  conflict_policy TEXT NOT NULL DEFAULT 'force' CHECK (conflict_policy IN ('force', 'report')),
  drift_policy TEXT NOT NULL DEFAULT 'heal' CHECK (drift_policy IN ('heal', 'report')),
  immutable_policy TEXT NOT NULL DEFAULT 'report' CHECK (immutable_policy IN ('report', 'recreate')),
  propagation TEXT NOT NULL DEFAULT 'background' CHECK (propagation IN ('background', 'foreground')),
  paused BOOLEAN NOT NULL DEFAULT false,
  selector JSONB CHECK (jsonb_typeof(selector) = 'object') -- NULL: all targets.
);
CREATE UNIQUE INDEX uq_global_resources_live ON global_resources
  (namespace, api_group, kind, name) WHERE deleted_at IS NULL;

CREATE TABLE resources (
  id SERIAL PRIMARY KEY,
  cluster_id VARCHAR(100) NOT NULL,
  namespace VARCHAR(255) NOT NULL, -- '' for kinds without one.
  kind VARCHAR(255) NOT NULL,
  name VARCHAR(255) NOT NULL,
  api_version VARCHAR(100),
  desired_spec JSONB NOT NULL CHECK (jsonb_typeof(desired_spec) = 'object'),
  generation INTEGER DEFAULT 1 NOT NULL, -- Rises with every change.
  revision INTEGER DEFAULT 1 NOT NULL CHECK (revision >= 1), -- The user's version, which may fall.
  created_at TIMESTAMP DEFAULT NOW(),
  updated_at TIMESTAMP DEFAULT NOW(),
  deleted_at TIMESTAMP,
  api_group TEXT NOT NULL GENERATED ALWAYS AS (api_group_of(api_version)) STORED,
  conflict_policy TEXT NOT NULL DEFAULT 'force' CHECK (conflict_policy IN ('force', 'report')),
  drift_policy TEXT NOT NULL DEFAULT 'heal' CHECK (drift_policy IN ('heal', 'report')),
  immutable_policy TEXT NOT NULL DEFAULT 'report' CHECK (immutable_policy IN ('report', 'recreate')),
  propagation TEXT NOT NULL DEFAULT 'background' CHECK (propagation IN ('background', 'foreground')),
  paused BOOLEAN NOT NULL DEFAULT false,
  global_id INTEGER REFERENCES global_resources(id)
);
CREATE INDEX idx_resources_cluster_id ON resources(cluster_id);
CREATE INDEX idx_resources_deleted_at ON resources(deleted_at);
CREATE INDEX idx_resources_global_id ON resources(global_id) WHERE global_id IS NOT NULL;
CREATE UNIQUE INDEX uq_resources_live ON resources
  (cluster_id, namespace, api_group, kind, name) WHERE deleted_at IS NULL;

CREATE TABLE resource_current_states (
  id SERIAL PRIMARY KEY,
  resource_id INTEGER NOT NULL UNIQUE REFERENCES resources(id) ON DELETE CASCADE,
  spec JSONB,
  generation INTEGER,
  revision INTEGER,
  k8s_resource_version VARCHAR(100),
  created_at TIMESTAMP DEFAULT NOW(),
  updated_at TIMESTAMP DEFAULT NOW(),
  deleted_at TIMESTAMP, -- The object is known to be absent.
  uid TEXT,
  observed_at TIMESTAMPTZ,
  health TEXT,
  health_message TEXT,
  drifted BOOLEAN NOT NULL DEFAULT false,
  drift JSONB,
  fence BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 80);
CREATE INDEX idx_rcs_resource_id ON resource_current_states(resource_id);

CREATE TABLE resource_applied_states (
  id SERIAL PRIMARY KEY,
  resource_id INTEGER NOT NULL UNIQUE REFERENCES resources(id) ON DELETE CASCADE,
  spec JSONB,
  generation INTEGER,
  revision INTEGER,
  status VARCHAR(50) CHECK (status IN ('success', 'error')), -- Of the last attempt.
  error_message TEXT,
  created_at TIMESTAMP DEFAULT NOW(),
  updated_at TIMESTAMP DEFAULT NOW(),
  deleted_at TIMESTAMP, -- The delete was sent.
  uid TEXT,
  k8s_resource_version VARCHAR(100), -- Of the object as our apply left it: what the cluster shows of before is old.
  applied_at TIMESTAMPTZ,
  owned JSONB -- Our fields as the server returned them.
) WITH (fillfactor = 80);
CREATE INDEX idx_ras_resource_id ON resource_applied_states(resource_id);
CREATE INDEX idx_ras_status ON resource_applied_states(status);
