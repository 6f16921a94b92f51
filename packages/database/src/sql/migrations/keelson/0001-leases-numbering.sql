-- What all services share. Names of leases and logs carry the schema that they belong to.

-- One row per thing that one process at a time may do. Rows stay, so that tokens never repeat.
CREATE TABLE leases (
  name text PRIMARY KEY,
  owner text,
  token bigint NOT NULL DEFAULT 0,
  expires_at timestamptz NOT NULL DEFAULT '-infinity'
);

-- The last position given out per log, and the last one that retention has removed.
CREATE TABLE numbering (
  log text PRIMARY KEY,
  last_position bigint NOT NULL DEFAULT 0,
  purged_position bigint NOT NULL DEFAULT 0
);
