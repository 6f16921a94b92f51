-- Global resources and their copies. A copy is an ordinary row that nobody writes but place_globals, in the very
-- transaction that changes a global resource, a target or its labels, be it by REST or by SQL.

ALTER TABLE global_resource_placements RENAME TO global_placements;
ALTER TABLE global_placements
  DROP CONSTRAINT global_resource_placements_resource_id_fkey,
  ADD FOREIGN KEY (resource_id) REFERENCES resources(id) ON DELETE CASCADE,
  ADD COLUMN placed_generation INTEGER NOT NULL DEFAULT 0, -- Of the global resource, as it was last placed.
  ADD COLUMN resource_generation INTEGER; -- Of the copy that says so.
CREATE UNIQUE INDEX uq_placements_resource_id ON global_placements(resource_id);
CREATE INDEX idx_placements_conflict ON global_placements(cluster_id) WHERE state = 'conflict';

-- The last generation that a cluster has shown to have. While it has the present one nothing need be written for that.
CREATE VIEW global_resource_placements (global_id, cluster_id, resource_id, synced_generation, state) AS
SELECT p.global_id, p.cluster_id, p.resource_id,
       CASE WHEN a.generation = p.resource_generation AND c.generation = p.resource_generation
            THEN p.placed_generation ELSE p.synced_generation END,
       p.state
FROM global_placements p
LEFT JOIN resource_applied_states a ON a.resource_id = p.resource_id
LEFT JOIN resource_current_states c ON c.resource_id = p.resource_id;

CREATE TABLE global_resource_revisions (
  global_id INTEGER NOT NULL REFERENCES global_resources(id) ON DELETE CASCADE,
  generation INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  api_version VARCHAR(100),
  desired_spec JSONB NOT NULL,
  actor TEXT NOT NULL,
  change_set UUID,
  created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  PRIMARY KEY (global_id, generation)
);

-- Whether a label selector chooses a target. None chooses all; an operator that nobody knows chooses nothing.
CREATE FUNCTION selects(selector jsonb, labels jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT selector IS NULL OR (
    labels @> coalesce(selector->'matchLabels', '{}')
    AND NOT EXISTS (
      SELECT FROM jsonb_array_elements(coalesce(selector->'matchExpressions', '[]')) e
      WHERE NOT CASE e->>'operator'
        WHEN 'In' THEN labels ? (e->>'key') AND e->'values' ? (labels->>(e->>'key'))
        WHEN 'NotIn' THEN NOT (labels ? (e->>'key') AND e->'values' ? (labels->>(e->>'key')))
        WHEN 'Exists' THEN labels ? (e->>'key')
        WHEN 'DoesNotExist' THEN NOT labels ? (e->>'key')
        ELSE false END))
$$;

-- Whoever changes a global resource or a target holds this until it commits, and takes it before any row: two that
-- could not see each other would leave a copy out.
CREATE FUNCTION lock_globals() RETURNS void LANGUAGE sql VOLATILE AS
$$ SELECT pg_advisory_xact_lock(hashtextextended('keelson fleet globals', 0)) $$;

-- Which copies there should be, of some global resources in some clusters; null: of all.
CREATE FUNCTION wanted_copies(globals integer[], clusters text[])
RETURNS TABLE (global_id integer, cluster_id text) LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
  SELECT g.id, t.cluster_id::text
  FROM global_resources g JOIN targets t ON selects(g.selector, t.labels)
  WHERE g.deleted_at IS NULL AND t.deleted_at IS NULL
    AND (globals IS NULL OR g.id = ANY (globals)) AND (clusters IS NULL OR t.cluster_id = ANY (clusters))
$$;

-- What should be there and is not, neither as a copy nor with its key taken by another row. Such rows stay locked.
CREATE FUNCTION missing_copies(globals integer[], clusters text[])
RETURNS TABLE (global_id integer, cluster_id text) LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
BEGIN
  -- Held until we have told of the conflict: whoever lets such a row go afterwards sees it, and places the copy. Of
  -- one that was told of before they see it in any case; there they may be waiting for us, and must not be waited for.
  PERFORM FROM wanted_copies(globals, clusters) w
  JOIN global_resources g ON g.id = w.global_id
  JOIN resources p ON (p.cluster_id, p.namespace, p.api_group, p.kind, p.name)
                    = (w.cluster_id, g.namespace, g.api_group, g.kind, g.name)
  WHERE p.deleted_at IS NULL AND p.global_id IS NULL
    AND NOT EXISTS (SELECT FROM global_placements c
                    WHERE (c.global_id, c.cluster_id) = (w.global_id, w.cluster_id) AND c.state = 'conflict')
  ORDER BY p.id FOR SHARE OF p;
  RETURN QUERY
  SELECT w.global_id, w.cluster_id FROM wanted_copies(globals, clusters) w
  JOIN global_resources g ON g.id = w.global_id
  WHERE NOT EXISTS (
    SELECT FROM resources r
    WHERE (r.cluster_id, r.namespace, r.api_group, r.kind, r.name)
        = (w.cluster_id, g.namespace, g.api_group, g.kind, g.name) AND r.deleted_at IS NULL);
END $$;

-- Brings the copies of some global resources in some clusters to what they should be; null: of all. It may be called
-- at any time and as often as one likes: where all is as it should be it writes nothing.
CREATE FUNCTION place_globals(globals integer[], clusters text[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
DECLARE
  kept_revision CONSTANT text := coalesce(fleet_setting('keeps_revision'), '');
  former_reason CONSTANT text := coalesce(fleet_setting('reason'), '');
  was_placing CONSTANT text := coalesce(fleet_setting('placing'), '');
BEGIN
  PERFORM lock_globals();
  -- The revision of a copy is that of its global resource, also where only the spec is new.
  PERFORM set_config('fleet.placing', 'on', true), set_config('fleet.keeps_revision', 'on', true),
          set_config('fleet.reason', 'NeverApplied', true);

  UPDATE resources r SET deleted_at = now()
  WHERE r.global_id IS NOT NULL AND r.deleted_at IS NULL
    AND (globals IS NULL OR r.global_id = ANY (globals)) AND (clusters IS NULL OR r.cluster_id = ANY (clusters))
    AND NOT EXISTS (SELECT FROM wanted_copies(globals, clusters) w
                    WHERE (w.global_id, w.cluster_id) = (r.global_id, r.cluster_id));
  DELETE FROM global_placements p
  WHERE p.state = 'conflict'
    AND (globals IS NULL OR p.global_id = ANY (globals)) AND (clusters IS NULL OR p.cluster_id = ANY (clusters))
    AND NOT EXISTS (SELECT FROM wanted_copies(globals, clusters) w
                    WHERE (w.global_id, w.cluster_id) = (p.global_id, p.cluster_id));
  UPDATE global_placements p SET state = 'leaving'
  FROM resources r
  WHERE r.id = p.resource_id AND r.deleted_at IS NOT NULL AND p.state = 'placed'
    AND (globals IS NULL OR p.global_id = ANY (globals)) AND (clusters IS NULL OR p.cluster_id = ANY (clusters));
  -- Of what no worker has begun there is nothing in a cluster to wait for.
  WITH untouched AS (
    SELECT t.resource_id FROM resource_attempts t JOIN resources r ON r.id = t.resource_id
    WHERE r.global_id IS NOT NULL AND r.deleted_at IS NOT NULL
      AND (globals IS NULL OR r.global_id = ANY (globals)) AND (clusters IS NULL OR r.cluster_id = ANY (clusters))
      AND t.last_attempt_at IS NULL AND t.lease_owner IS NULL
    ORDER BY t.resource_id FOR UPDATE OF t
  )
  DELETE FROM resources r USING untouched u WHERE r.id = u.resource_id;

  LOOP
    INSERT INTO resources
      (cluster_id, namespace, kind, name, api_version, desired_spec, revision, conflict_policy, drift_policy,
       immutable_policy, propagation, paused, global_id)
    SELECT m.cluster_id, g.namespace, g.kind, g.name, g.api_version, g.desired_spec, g.revision, g.conflict_policy,
           g.drift_policy, g.immutable_policy, g.propagation, g.paused, g.id
    FROM missing_copies(globals, clusters) m JOIN global_resources g ON g.id = m.global_id
    ORDER BY m.cluster_id, g.id
    ON CONFLICT DO NOTHING;
    -- Somebody may have taken a key meanwhile, or let one go.
    EXIT WHEN NOT EXISTS (SELECT FROM missing_copies(globals, clusters));
  END LOOP;
  UPDATE resources r
  SET api_version = g.api_version, desired_spec = g.desired_spec, revision = g.revision,
      conflict_policy = g.conflict_policy, drift_policy = g.drift_policy, immutable_policy = g.immutable_policy,
      propagation = g.propagation, paused = g.paused
  FROM global_resources g
  WHERE g.id = r.global_id AND r.deleted_at IS NULL AND g.deleted_at IS NULL
    AND (globals IS NULL OR r.global_id = ANY (globals)) AND (clusters IS NULL OR r.cluster_id = ANY (clusters))
    AND (r.api_version, r.desired_spec, r.revision, r.conflict_policy, r.drift_policy, r.immutable_policy,
         r.propagation, r.paused)
        IS DISTINCT FROM
        (g.api_version, g.desired_spec, g.revision, g.conflict_policy, g.drift_policy, g.immutable_policy,
         g.propagation, g.paused);

  INSERT INTO global_placements AS p
    (global_id, cluster_id, resource_id, state, placed_generation, resource_generation)
  SELECT w.global_id, w.cluster_id, r.id, CASE WHEN r.id IS NULL THEN 'conflict' ELSE 'placed' END, g.generation,
         r.generation
  FROM wanted_copies(globals, clusters) w
  JOIN global_resources g ON g.id = w.global_id
  LEFT JOIN resources r ON r.global_id = w.global_id AND r.cluster_id = w.cluster_id AND r.deleted_at IS NULL
  ON CONFLICT (global_id, cluster_id) DO UPDATE
    SET synced_generation = CASE
          WHEN p.resource_id IS DISTINCT FROM excluded.resource_id THEN NULL
          ELSE (SELECT v.synced_generation FROM global_resource_placements v
                WHERE (v.global_id, v.cluster_id) = (p.global_id, p.cluster_id)) END,
        resource_id = excluded.resource_id, state = excluded.state,
        placed_generation = excluded.placed_generation, resource_generation = excluded.resource_generation
    WHERE (p.resource_id, p.state, p.placed_generation, p.resource_generation)
          IS DISTINCT FROM
          (excluded.resource_id, excluded.state, excluded.placed_generation, excluded.resource_generation);

  PERFORM set_config('fleet.placing', was_placing, true), set_config('fleet.keeps_revision', kept_revision, true),
          set_config('fleet.reason', former_reason, true);
  PERFORM remove_what_left(globals, clusters);
END $$;

-- A global resource goes after its last copy, and so does a target that leaves.
CREATE FUNCTION remove_what_left(globals integer[], clusters text[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM global_resources g
  WHERE g.deleted_at IS NOT NULL AND (globals IS NULL OR g.id = ANY (globals))
    AND NOT EXISTS (SELECT FROM resources r WHERE r.global_id = g.id);
  DELETE FROM targets t
  WHERE t.deleted_at IS NOT NULL AND (clusters IS NULL OR t.cluster_id = ANY (clusters))
    AND NOT EXISTS (SELECT FROM resources r WHERE r.cluster_id = t.cluster_id AND r.global_id IS NOT NULL);
END $$;

-- Before any row of these is locked.
CREATE FUNCTION take_globals_lock() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM lock_globals();
  RETURN NULL;
END $$;
CREATE TRIGGER a_lock BEFORE INSERT OR UPDATE OR DELETE ON global_resources
  FOR EACH STATEMENT EXECUTE FUNCTION take_globals_lock();
-- Health and leases are written all the time and move no copy.
CREATE TRIGGER a_lock BEFORE INSERT OR DELETE OR UPDATE OF labels, deleted_at ON targets
  FOR EACH STATEMENT EXECUTE FUNCTION take_globals_lock();

-- What an event says of a global resource. Never its spec.
CREATE FUNCTION told_of_global(g global_resources) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object(
    'global_id', g.id, 'namespace', g.namespace, 'api_version', g.api_version, 'kind', g.kind, 'name', g.name,
    'generation', g.generation, 'revision', g.revision)
$$;

-- How many generations of a global resource are kept.
CREATE FUNCTION global_history_limit() RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT 1000 $$;

CREATE FUNCTION globals_inserted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO global_resource_revisions
    (global_id, generation, revision, api_version, desired_spec, actor, change_set)
  SELECT id, generation, revision, api_version, desired_spec, fleet_actor(), fleet_change_set()
  FROM written WHERE deleted_at IS NULL;
  INSERT INTO events_unnumbered (type, actor, change_set, data)
  SELECT 'global.created', fleet_actor(), fleet_change_set(), told_of_global(w) FROM written w ORDER BY w.id;
  PERFORM place_globals(array_agg(id), NULL) FROM written HAVING count(*) > 0;
  RETURN NULL;
END $$;
CREATE TRIGGER inserted AFTER INSERT ON global_resources REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION globals_inserted();

CREATE FUNCTION globals_updated() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO global_resource_revisions
    (global_id, generation, revision, api_version, desired_spec, actor, change_set)
  SELECT w.id, w.generation, w.revision, w.api_version, w.desired_spec, fleet_actor(), fleet_change_set()
  FROM written w JOIN former f ON f.id = w.id
  WHERE w.generation <> f.generation AND w.deleted_at IS NULL;
  DELETE FROM global_resource_revisions h USING written w
  WHERE h.global_id = w.id AND h.generation <= w.generation - global_history_limit();
  INSERT INTO events_unnumbered (type, actor, change_set, data)
  SELECT CASE WHEN w.deleted_at IS NOT NULL AND f.deleted_at IS NULL THEN 'global.deleting'
              ELSE 'global.updated' END,
         fleet_actor(), fleet_change_set(), told_of_global(w)
  FROM written w JOIN former f ON f.id = w.id WHERE w IS DISTINCT FROM f ORDER BY w.id;
  PERFORM place_globals(array_agg(w.id), NULL)
  FROM written w JOIN former f ON f.id = w.id WHERE w IS DISTINCT FROM f HAVING count(*) > 0;
  RETURN NULL;
END $$;
CREATE TRIGGER updated AFTER UPDATE ON global_resources REFERENCING OLD TABLE AS former NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION globals_updated();

-- Whoever deletes the row itself forgets it and its copies, and leaves their objects alone.
CREATE FUNCTION forget_copies() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  was_placing CONSTANT text := coalesce(fleet_setting('placing'), '');
BEGIN
  PERFORM set_config('fleet.placing', 'forgetting', true);
  DELETE FROM resources WHERE global_id = OLD.id;
  PERFORM set_config('fleet.placing', was_placing, true);
  RETURN OLD;
END $$;
CREATE TRIGGER forget BEFORE DELETE ON global_resources
  FOR EACH ROW EXECUTE FUNCTION forget_copies();

CREATE FUNCTION globals_deleted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO events_unnumbered (type, actor, change_set, data)
  SELECT 'global.deleted', fleet_actor(), fleet_change_set(), told_of_global(f) FROM former f ORDER BY f.id;
  RETURN NULL;
END $$;
CREATE TRIGGER deleted AFTER DELETE ON global_resources REFERENCING OLD TABLE AS former
  FOR EACH STATEMENT EXECUTE FUNCTION globals_deleted();

CREATE FUNCTION targets_joined() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM place_globals(NULL, array_agg(cluster_id::text)) FROM written HAVING count(*) > 0;
  RETURN NULL;
END $$;
CREATE TRIGGER joined AFTER INSERT ON targets REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION targets_joined();

CREATE FUNCTION target_moved() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM place_globals(NULL, ARRAY[NEW.cluster_id::text]);
  RETURN NULL;
END $$;
CREATE TRIGGER moved AFTER UPDATE OF labels, deleted_at ON targets FOR EACH ROW
  WHEN ((OLD.labels, OLD.deleted_at) IS DISTINCT FROM (NEW.labels, NEW.deleted_at))
  EXECUTE FUNCTION target_moved();

-- Copies go first: until they are gone the target stays, and is served.
CREATE FUNCTION target_leaves() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM resources WHERE cluster_id = OLD.cluster_id AND global_id IS NOT NULL) THEN
    DELETE FROM global_placements WHERE cluster_id = OLD.cluster_id;
    RETURN OLD;
  END IF;
  UPDATE targets SET deleted_at = now() WHERE cluster_id = OLD.cluster_id AND deleted_at IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER leaves BEFORE DELETE ON targets FOR EACH ROW EXECUTE FUNCTION target_leaves();

-- Forgets everything of a cluster and the target with it; the objects stay.
CREATE FUNCTION forget_target(cluster text) RETURNS void LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM lock_globals();
  PERFORM set_config('fleet.placing', 'forgetting', true);
  DELETE FROM resources WHERE cluster_id = cluster;
  DELETE FROM targets WHERE cluster_id = cluster;
  PERFORM set_config('fleet.placing', '', true);
  PERFORM remove_what_left(NULL, ARRAY[]::text[]);
END $$;

-- Copies follow their global resource and nobody else.
CREATE FUNCTION refuse_copy_writes() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF fleet_setting('placing') IS NULL THEN
    RAISE EXCEPTION 'copies of global resources are written by changing the global resource'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'copies_follow';
  END IF;
  RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE TRIGGER a_copy_inserted BEFORE INSERT ON resources FOR EACH ROW
  WHEN (NEW.global_id IS NOT NULL) EXECUTE FUNCTION refuse_copy_writes();
CREATE TRIGGER a_copy_updated BEFORE UPDATE ON resources FOR EACH ROW
  WHEN (OLD.global_id IS NOT NULL OR NEW.global_id IS NOT NULL) EXECUTE FUNCTION refuse_copy_writes();
-- One that is being deleted is purged by the worker.
CREATE TRIGGER a_copy_deleted BEFORE DELETE ON resources FOR EACH ROW
  WHEN (OLD.global_id IS NOT NULL AND OLD.deleted_at IS NULL) EXECUTE FUNCTION refuse_copy_writes();

-- A plain row lets its key go: a copy may have been waiting for it.
CREATE FUNCTION resources_made_way() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM place_globals(array_agg(DISTINCT p.global_id), array_agg(DISTINCT p.cluster_id::text))
  FROM written w
  JOIN former f ON f.id = w.id
  JOIN global_placements p ON p.cluster_id = w.cluster_id AND p.state = 'conflict'
  JOIN global_resources g ON g.id = p.global_id
   AND (g.namespace, g.api_group, g.kind, g.name) = (w.namespace, w.api_group, w.kind, w.name)
  WHERE w.deleted_at IS NOT NULL AND f.deleted_at IS NULL
  HAVING count(*) > 0;
  RETURN NULL;
END $$;
CREATE TRIGGER x_makes_way AFTER UPDATE ON resources REFERENCING OLD TABLE AS former NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION resources_made_way();

CREATE FUNCTION resources_left() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  is_forgetting CONSTANT boolean := coalesce(fleet_setting('placing') = 'forgetting', false);
BEGIN
  PERFORM place_globals(array_agg(DISTINCT p.global_id), array_agg(DISTINCT p.cluster_id::text))
  FROM former f
  JOIN global_placements p ON p.cluster_id = f.cluster_id AND p.state = 'conflict'
  JOIN global_resources g ON g.id = p.global_id
   AND (g.namespace, g.api_group, g.kind, g.name) = (f.namespace, f.api_group, f.kind, f.name)
  WHERE f.deleted_at IS NULL AND NOT is_forgetting
  HAVING count(*) > 0;
  IF EXISTS (SELECT FROM former WHERE global_id IS NOT NULL) THEN
    -- Of the last two of a global resource that go at once the later one sees that it is the last.
    PERFORM lock_globals();
    -- Whoever forgets a global resource is about to delete it.
    PERFORM remove_what_left(CASE WHEN is_forgetting THEN '{}' ELSE array_agg(DISTINCT global_id) END,
                             array_agg(DISTINCT cluster_id::text))
    FROM former WHERE global_id IS NOT NULL;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER x_left AFTER DELETE ON resources REFERENCING OLD TABLE AS former
  FOR EACH STATEMENT EXECUTE FUNCTION resources_left();
