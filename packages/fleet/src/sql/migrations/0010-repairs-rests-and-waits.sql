-- What repairs, deletions and waits leave to be known: who fights over a field, who waits for whom, who has stalled.

-- How far a resource got. The view and every event say it by these words alone.
CREATE FUNCTION status_of(
  is_deleting boolean, failed_generation integer, generation integer, applied_generation integer, is_drifted boolean,
  current_generation integer
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN is_deleting THEN 'deleting'
    WHEN failed_generation = generation THEN 'error'
    WHEN applied_generation IS NULL THEN 'pending'
    WHEN applied_generation <> generation THEN 'out-of-sync'
    WHEN is_drifted THEN 'drifted'
    WHEN current_generation IS DISTINCT FROM applied_generation THEN 'pending-applied'
    ELSE 'synced'
  END
$$;

CREATE FUNCTION health_of(target_health text, is_seen boolean, is_absent boolean, health text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN NOT is_seen OR target_health IS NULL OR target_health IN ('Unknown', 'Unreachable') THEN 'Unknown'
    WHEN is_absent THEN 'Missing'
    ELSE coalesce(health, 'Healthy')
  END
$$;

CREATE OR REPLACE VIEW resource_statuses (resource_id, status, health) AS
SELECT r.id,
       status_of(
         r.deleted_at IS NOT NULL, t.failed_generation, r.generation, a.generation,
         -- Absent after it was seen. Of one that we have made again since, the cluster has only not told yet.
         c.drifted OR (c.deleted_at IS NOT NULL AND c.uid IS NOT DISTINCT FROM a.uid), c.generation),
       health_of(g.health, c.observed_at IS NOT NULL, c.deleted_at IS NOT NULL, c.health)
FROM resources r
LEFT JOIN resource_applied_states a ON a.resource_id = r.id
LEFT JOIN resource_current_states c ON c.resource_id = r.id
LEFT JOIN resource_attempts t ON t.resource_id = r.id
LEFT JOIN targets g ON g.cluster_id = r.cluster_id;

ALTER TABLE resource_attempts
  ADD COLUMN repair_after TIMESTAMPTZ, -- Somebody keeps undoing repairs: no sooner than this, unless more is wanted.
  ADD COLUMN stalled TEXT; -- The generation and step for which it was told that nothing moves.
CREATE INDEX idx_attempts_waiting ON resource_attempts(cluster_id)
  WHERE error_class IN ('no-kind', 'no-namespace');
ALTER TABLE resource_current_states ADD COLUMN contested TEXT; -- Who keeps undoing our repairs, and where.
ALTER TABLE resource_tombstones ADD COLUMN api_version VARCHAR(100);
CREATE INDEX idx_tombstones_cluster_id ON resource_tombstones(cluster_id);
CREATE INDEX idx_resources_deleting ON resources(cluster_id, namespace, api_group, kind, name)
  WHERE deleted_at IS NOT NULL;

-- Whoever wants something new of a row that is being fought over need not wait for the fight.
CREATE FUNCTION resources_changed_again() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE resource_attempts t SET repair_after = NULL
  FROM written w JOIN former f ON f.id = w.id
  WHERE t.resource_id = w.id AND t.repair_after IS NOT NULL AND w.generation <> f.generation;
  RETURN NULL;
END $$;
CREATE TRIGGER y_changed_again AFTER UPDATE ON resources REFERENCING OLD TABLE AS former NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION resources_changed_again();

-- A row is gone: its successor need not wait any more.
CREATE FUNCTION successors_follow() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  WITH successors AS (
    SELECT t.resource_id FROM former f
    JOIN resources r ON (r.cluster_id, r.namespace, r.api_group, r.kind, r.name)
                      = (f.cluster_id, f.namespace, f.api_group, f.kind, f.name)
    JOIN resource_attempts t ON t.resource_id = r.id
    WHERE r.deleted_at IS NULL AND NOT r.paused
    ORDER BY t.resource_id FOR NO KEY UPDATE OF t
  )
  UPDATE resource_attempts t
  SET due_at = least(due_at, clock_timestamp()), requests = requests + 1, attempts = 0
  FROM successors s WHERE t.resource_id = s.resource_id;
  IF FOUND THEN PERFORM wake_workers(); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER y_successors AFTER DELETE ON resources REFERENCING OLD TABLE AS former
  FOR EACH STATEMENT EXECUTE FUNCTION successors_follow();
