-- How far each resource got: the first that holds. A target's trouble shows in health, never in the status.

CREATE VIEW resource_statuses (resource_id, status, health) AS
SELECT r.id,
       CASE
         WHEN r.deleted_at IS NOT NULL THEN 'deleting'
         WHEN t.failed_generation = r.generation THEN 'error'
         WHEN a.generation IS NULL THEN 'pending'
         WHEN a.generation <> r.generation THEN 'out-of-sync'
         -- Absent after it was seen. Of one that we have made again since, the cluster has only not told yet.
         WHEN c.drifted OR (c.deleted_at IS NOT NULL AND c.uid IS NOT DISTINCT FROM a.uid) THEN 'drifted'
         WHEN c.generation IS DISTINCT FROM a.generation THEN 'pending-applied'
         ELSE 'synced'
       END,
       CASE
         WHEN c.observed_at IS NULL OR g.health IS NULL OR g.health IN ('Unknown', 'Unreachable') THEN 'Unknown'
         WHEN c.deleted_at IS NOT NULL THEN 'Missing'
         ELSE coalesce(c.health, 'Healthy')
       END
FROM resources r
LEFT JOIN resource_applied_states a ON a.resource_id = r.id
LEFT JOIN resource_current_states c ON c.resource_id = r.id
LEFT JOIN resource_attempts t ON t.resource_id = r.id
LEFT JOIN targets g ON g.cluster_id = r.cluster_id;

-- A time as every answer writes it: RFC 3339, UTC, microseconds.
CREATE FUNCTION shown(at timestamptz) RETURNS text LANGUAGE sql STABLE AS
$$ SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') $$;

-- Whether a version of an object comes after another. They are numbers, larger than some that computers count with; of
-- anything else only that it differs is known.
CREATE FUNCTION is_later(version text, than text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN than IS NULL THEN true
              WHEN version ~ '^[0-9]+$' AND than ~ '^[0-9]+$' THEN version::numeric > than::numeric
              ELSE version IS DISTINCT FROM than END
$$;
