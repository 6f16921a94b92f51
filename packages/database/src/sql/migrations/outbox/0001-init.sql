-- The outbox of one service, in its own schema.

-- Events as their transactions write them. Ids are handed out before commit, so nobody reads by them:
-- a numbering step moves the rows that are visible to `outbox`, in the order of their ids.
CREATE TABLE outbox_unnumbered (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id uuid NOT NULL,
  topic text,
  ordering_key text NOT NULL,
  data jsonb NOT NULL,
  attributes jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  published_at timestamptz
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- Events in their order for ever. Rows without a topic are for readers of the log only and count as published.
CREATE TABLE outbox (
  position bigint PRIMARY KEY,
  event_id uuid NOT NULL,
  topic text,
  ordering_key text NOT NULL,
  data jsonb NOT NULL,
  attributes jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  published_at timestamptz
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX outbox_pending ON outbox (ordering_key, position) WHERE published_at IS NULL;

-- What a relay claims: a key, with all that it has to publish. A key that fails waits here by itself, however
-- long its backlog, and costs the others nothing. Keys with nothing to publish are due at infinity.
CREATE TABLE outbox_keys (
  ordering_key text PRIMARY KEY,
  last_position bigint NOT NULL,
  published_position bigint NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL,
  claim uuid,
  attempts integer NOT NULL DEFAULT 0,
  last_error text
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX outbox_keys_due ON outbox_keys (due_at);
