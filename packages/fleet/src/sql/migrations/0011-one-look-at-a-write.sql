-- What a write of resources brings along, by one trigger: three that look at the same rows cost three times as much, and
-- who wrote is the same for all of them.

CREATE OR REPLACE FUNCTION resources_inserted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  writer CONSTANT text := fleet_actor();
  together CONSTANT uuid := fleet_change_set();
BEGIN
  INSERT INTO resource_revisions
    (resource_id, generation, revision, api_version, desired_spec, actor, change_set)
  SELECT id, generation, revision, api_version, desired_spec, writer, together FROM written WHERE deleted_at IS NULL;
  INSERT INTO resource_attempts (resource_id, cluster_id, due_at, requests)
  SELECT id, cluster_id, CASE WHEN NOT paused THEN clock_timestamp() END, 1 FROM written ORDER BY id;
  -- Nothing was tried and nothing was seen of it.
  INSERT INTO events_unnumbered (type, resource_id, cluster_id, actor, change_set, data)
  SELECT 'resource.created', w.id, w.cluster_id, writer, together,
         told(w, status_of(w.deleted_at IS NOT NULL, NULL, w.generation, NULL, NULL, NULL),
              health_of(NULL, false, false, NULL))
  FROM written w ORDER BY w.id;
  PERFORM wake_workers() FROM written LIMIT 1;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION resources_updated() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  writer CONSTANT text := fleet_actor();
  together CONSTANT uuid := fleet_change_set();
BEGIN
  IF NOT EXISTS (SELECT FROM written w JOIN former f ON f.id = w.id WHERE w IS DISTINCT FROM f) THEN
    RETURN NULL;
  END IF;
  INSERT INTO resource_revisions
    (resource_id, generation, revision, api_version, desired_spec, actor, change_set)
  SELECT w.id, w.generation, w.revision, w.api_version, w.desired_spec, writer, together
  FROM written w JOIN former f ON f.id = w.id
  WHERE w.generation <> f.generation AND w.deleted_at IS NULL;
  -- Rows in their order: two statements that mark the same ones never wait for each other in a circle. A new
  -- generation and a resumption begin anew; whoever waited because of the last one's failure need not, nor whoever is
  -- being fought over. While a row is paused nothing is to be done for it, and the poll must not find it.
  WITH asked AS (
    SELECT t.resource_id, w.paused, w.generation <> f.generation AS is_changed, f.paused AS was_paused
    FROM written w
    JOIN former f ON f.id = w.id
    JOIN resource_attempts t ON t.resource_id = w.id
    WHERE w IS DISTINCT FROM f
    ORDER BY t.resource_id FOR NO KEY UPDATE OF t
  )
  UPDATE resource_attempts t
  SET due_at = CASE WHEN NOT paused THEN least(due_at, clock_timestamp()) END,
      requests = requests + 1,
      attempts = CASE WHEN is_changed OR was_paused THEN 0 ELSE attempts END,
      repair_after = CASE WHEN NOT is_changed THEN repair_after END
  FROM asked WHERE t.resource_id = asked.resource_id;
  INSERT INTO events_unnumbered (type, resource_id, cluster_id, actor, change_set, data)
  SELECT CASE WHEN w.deleted_at IS NOT NULL AND f.deleted_at IS NULL THEN 'resource.deleting'
              ELSE 'resource.updated' END,
         w.id, w.cluster_id, writer, together, told(w, s.status, s.health)
  FROM written w
  JOIN former f ON f.id = w.id
  JOIN resource_statuses s ON s.resource_id = w.id
  WHERE w IS DISTINCT FROM f ORDER BY w.id;
  PERFORM wake_workers();
  -- A plain row lets its key go: a copy may have been waiting for it.
  IF EXISTS (SELECT FROM written w JOIN former f ON f.id = w.id
             WHERE w.deleted_at IS NOT NULL AND f.deleted_at IS NULL) THEN
    PERFORM place_globals(array_agg(DISTINCT p.global_id), array_agg(DISTINCT p.cluster_id::text))
    FROM written w
    JOIN former f ON f.id = w.id
    JOIN global_placements p ON p.cluster_id = w.cluster_id AND p.state = 'conflict'
    JOIN global_resources g ON g.id = p.global_id
     AND (g.namespace, g.api_group, g.kind, g.name) = (w.namespace, w.api_group, w.kind, w.name)
    WHERE w.deleted_at IS NOT NULL AND f.deleted_at IS NULL
    HAVING count(*) > 0;
  END IF;
  RETURN NULL;
END $$;
DROP TRIGGER x_makes_way ON resources;
DROP FUNCTION resources_made_way();
DROP TRIGGER y_changed_again ON resources;
DROP FUNCTION resources_changed_again();
