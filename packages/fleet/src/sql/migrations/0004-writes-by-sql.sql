-- A write by SQL does what a write by REST does: generations, history, work, events, wake-ups. What REST knows and
-- SQL does not stands in settings of its transaction: fleet.actor, fleet.change_set, fleet.reason,
-- fleet.keeps_revision (the revision was given, also if it is the old one), fleet.wakes (it wakes the workers itself).

CREATE FUNCTION fleet_setting(name text) RETURNS text LANGUAGE sql STABLE AS
$$ SELECT nullif(current_setting('fleet.' || name, true), '') $$;

CREATE FUNCTION fleet_actor() RETURNS text LANGUAGE sql STABLE SET search_path FROM CURRENT AS
$$ SELECT coalesce(fleet_setting('actor'), 'sql:' || session_user) $$;

CREATE FUNCTION fleet_change_set() RETURNS uuid LANGUAGE sql STABLE SET search_path FROM CURRENT AS
$$ SELECT fleet_setting('change_set')::uuid $$;

-- The contract's timestamps have no zone. They are UTC whatever the session's zone is.
CREATE FUNCTION utc_now() RETURNS timestamp LANGUAGE sql STABLE AS
$$ SELECT now() AT TIME ZONE 'UTC' $$;

CREATE FUNCTION stamp_state() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  NEW.id := NEW.resource_id;
  NEW.updated_at := utc_now();
  IF TG_OP = 'INSERT' THEN NEW.created_at := NEW.updated_at; END IF;
  IF NEW.deleted_at IS NOT NULL AND (TG_OP = 'INSERT' OR OLD.deleted_at IS NULL) THEN
    NEW.deleted_at := NEW.updated_at;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON resource_applied_states
  FOR EACH ROW EXECUTE FUNCTION stamp_state();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON resource_current_states
  FOR EACH ROW EXECUTE FUNCTION stamp_state();

CREATE FUNCTION begin_generations() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  NEW.generation := 1;
  NEW.created_at := utc_now();
  NEW.updated_at := NEW.created_at;
  IF NEW.deleted_at IS NOT NULL THEN NEW.deleted_at := NEW.created_at; END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION raise_generation() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  is_new_spec CONSTANT boolean := NEW.desired_spec IS DISTINCT FROM OLD.desired_spec;
BEGIN
  -- A deletion that was asked for is not asked for again.
  IF NEW.deleted_at IS NOT NULL THEN NEW.deleted_at := coalesce(OLD.deleted_at, utc_now()); END IF;
  IF is_new_spec AND NEW.revision = OLD.revision AND fleet_setting('keeps_revision') IS NULL THEN
    NEW.revision := OLD.revision + 1;
  END IF;
  NEW.generation := OLD.generation;
  IF is_new_spec OR NEW.revision <> OLD.revision OR NEW.api_version IS DISTINCT FROM OLD.api_version
     OR NEW.deleted_at IS DISTINCT FROM OLD.deleted_at THEN
    NEW.generation := OLD.generation + 1;
  END IF;
  NEW.created_at := OLD.created_at;
  NEW.updated_at := OLD.updated_at;
  NEW.api_group := OLD.api_group; -- It is generated after this; until then it is empty, and would differ.
  IF NEW IS DISTINCT FROM OLD THEN NEW.updated_at := utc_now(); END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION refuse_new_identity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'row % of % keeps its identity: delete it and write another', OLD.id, TG_TABLE_NAME
    USING ERRCODE = 'check_violation', CONSTRAINT = 'identity_is_kept';
END $$;

-- Its name comes first, so that it runs before the generation rises.
CREATE TRIGGER a_identity BEFORE UPDATE ON resources FOR EACH ROW
  WHEN ((OLD.id, OLD.cluster_id, OLD.namespace, api_group_of(OLD.api_version), OLD.kind, OLD.name)
        IS DISTINCT FROM
        (NEW.id, NEW.cluster_id, NEW.namespace, api_group_of(NEW.api_version), NEW.kind, NEW.name))
  EXECUTE FUNCTION refuse_new_identity();
CREATE TRIGGER a_identity BEFORE UPDATE ON global_resources FOR EACH ROW
  WHEN ((OLD.id, OLD.namespace, api_group_of(OLD.api_version), OLD.kind, OLD.name)
        IS DISTINCT FROM
        (NEW.id, NEW.namespace, api_group_of(NEW.api_version), NEW.kind, NEW.name))
  EXECUTE FUNCTION refuse_new_identity();
CREATE TRIGGER generation_begins BEFORE INSERT ON resources
  FOR EACH ROW EXECUTE FUNCTION begin_generations();
CREATE TRIGGER generation_begins BEFORE INSERT ON global_resources
  FOR EACH ROW EXECUTE FUNCTION begin_generations();
CREATE TRIGGER generation_rises BEFORE UPDATE ON resources
  FOR EACH ROW EXECUTE FUNCTION raise_generation();
CREATE TRIGGER generation_rises BEFORE UPDATE ON global_resources
  FOR EACH ROW EXECUTE FUNCTION raise_generation();

CREATE FUNCTION wake_workers() RETURNS void LANGUAGE sql VOLATILE SET search_path FROM CURRENT AS
$$ SELECT pg_notify('fleet_work', '') WHERE fleet_setting('wakes') IS NULL $$;

-- What an event says of a resource: who it is and how far it got, never its spec.
CREATE FUNCTION told(r resources, status text, health text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object(
    'namespace', r.namespace, 'api_version', r.api_version, 'kind', r.kind, 'name', r.name,
    'generation', r.generation, 'revision', r.revision, 'status', status, 'health', health)
$$;

CREATE FUNCTION resources_inserted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO resource_revisions
    (resource_id, generation, revision, api_version, desired_spec, actor, change_set)
  SELECT id, generation, revision, api_version, desired_spec, fleet_actor(), fleet_change_set()
  FROM written WHERE deleted_at IS NULL;
  INSERT INTO resource_attempts (resource_id, cluster_id, due_at, requests)
  SELECT id, cluster_id, CASE WHEN NOT paused THEN clock_timestamp() END, 1 FROM written;
  INSERT INTO events_unnumbered (type, resource_id, cluster_id, actor, change_set, data)
  SELECT 'resource.created', w.id, w.cluster_id, fleet_actor(), fleet_change_set(),
         told(w, s.status, s.health)
  FROM written w JOIN resource_statuses s ON s.resource_id = w.id ORDER BY w.id;
  PERFORM wake_workers() FROM written LIMIT 1;
  RETURN NULL;
END $$;
CREATE TRIGGER inserted AFTER INSERT ON resources REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION resources_inserted();

CREATE FUNCTION resources_updated() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO resource_revisions
    (resource_id, generation, revision, api_version, desired_spec, actor, change_set)
  SELECT w.id, w.generation, w.revision, w.api_version, w.desired_spec, fleet_actor(), fleet_change_set()
  FROM written w JOIN former f ON f.id = w.id
  WHERE w.generation <> f.generation AND w.deleted_at IS NULL;
  -- Rows in their order: two statements that mark the same ones never wait for each other in a circle. A new
  -- generation and a resumption begin anew; whoever waited because of the last one's failure need not. While a row
  -- is paused nothing is to be done for it, and the poll must not find it.
  WITH asked AS (
    SELECT t.resource_id, w.paused, w.generation <> f.generation OR f.paused AS is_new
    FROM written w
    JOIN former f ON f.id = w.id
    JOIN resource_attempts t ON t.resource_id = w.id
    WHERE w IS DISTINCT FROM f
    ORDER BY t.resource_id FOR NO KEY UPDATE OF t
  )
  UPDATE resource_attempts t
  SET due_at = CASE WHEN NOT paused THEN least(due_at, clock_timestamp()) END,
      requests = requests + 1,
      attempts = CASE WHEN is_new THEN 0 ELSE attempts END
  FROM asked WHERE t.resource_id = asked.resource_id;
  INSERT INTO events_unnumbered (type, resource_id, cluster_id, actor, change_set, data)
  SELECT CASE WHEN w.deleted_at IS NOT NULL AND f.deleted_at IS NULL THEN 'resource.deleting'
              ELSE 'resource.updated' END,
         w.id, w.cluster_id, fleet_actor(), fleet_change_set(), told(w, s.status, s.health)
  FROM written w
  JOIN former f ON f.id = w.id
  JOIN resource_statuses s ON s.resource_id = w.id
  WHERE w IS DISTINCT FROM f ORDER BY w.id;
  PERFORM wake_workers() FROM written w JOIN former f ON f.id = w.id WHERE w IS DISTINCT FROM f LIMIT 1;
  RETURN NULL;
END $$;
CREATE TRIGGER updated AFTER UPDATE ON resources REFERENCING OLD TABLE AS former NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION resources_updated();

-- Whoever deletes a row by SQL forgets it and leaves its object alone; a purge gives its own reason.
CREATE FUNCTION resources_deleted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO events_unnumbered (type, resource_id, cluster_id, actor, change_set, data)
  SELECT 'resource.deleted', f.id, f.cluster_id, fleet_actor(), fleet_change_set(),
         told(f, 'deleted', 'Unknown')
           || jsonb_build_object('reason', coalesce(fleet_setting('reason'), 'Forgotten'))
  FROM former f ORDER BY f.id;
  RETURN NULL;
END $$;
CREATE TRIGGER deleted AFTER DELETE ON resources REFERENCING OLD TABLE AS former
  FOR EACH STATEMENT EXECUTE FUNCTION resources_deleted();
