-- A write by SQL moves generations, statuses and schedules as one by REST does. Events come from REST only.

CREATE FUNCTION platform_of(spec jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT lower(spec #>> '{platform,type}') $$;

-- Only for what a user asks for: a write of the cached status must not look like one of the user's.
CREATE FUNCTION raise_generation() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  NEW.generation := OLD.generation + 1;
  NEW.generation_changed_at := clock_timestamp();
  NEW.updated_at := NEW.generation_changed_at;
  NEW.resource_version := gen_random_uuid()::text;
  NEW.status_dirty := true;
  NEW.status_revision := OLD.status_revision + 1;
  RETURN NEW;
END $$;
CREATE TRIGGER generation_rises BEFORE UPDATE ON clusters FOR EACH ROW
  WHEN (OLD.spec IS DISTINCT FROM NEW.spec OR OLD.target_project_id IS DISTINCT FROM NEW.target_project_id
        OR OLD.deletion_timestamp IS DISTINCT FROM NEW.deletion_timestamp)
  EXECUTE FUNCTION raise_generation();
CREATE TRIGGER generation_rises BEFORE UPDATE ON nodepools FOR EACH ROW
  WHEN (OLD.spec IS DISTINCT FROM NEW.spec OR OLD.target_project_id IS DISTINCT FROM NEW.target_project_id
        OR OLD.deletion_timestamp IS DISTINCT FROM NEW.deletion_timestamp)
  EXECUTE FUNCTION raise_generation();

-- New ones and new generations are due at once: who hears of announcements only hears of them within a tick.
CREATE FUNCTION cluster_inserted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO reconciliation_schedule (cluster_id, next_reconcile_at) VALUES (NEW.id, clock_timestamp());
  RETURN NULL;
END $$;
CREATE TRIGGER schedule_begins AFTER INSERT ON clusters
  FOR EACH ROW EXECUTE FUNCTION cluster_inserted();

CREATE FUNCTION nodepool_inserted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO nodepool_reconciliation_schedule (nodepool_id, next_reconcile_at)
  VALUES (NEW.id, clock_timestamp());
  RETURN NULL;
END $$;
CREATE TRIGGER schedule_begins AFTER INSERT ON nodepools
  FOR EACH ROW EXECUTE FUNCTION nodepool_inserted();

CREATE FUNCTION cluster_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF platform_of(OLD.spec) IS DISTINCT FROM platform_of(NEW.spec) THEN
    -- Nodepools without a platform of their own have the cluster's, and with it other controllers.
    UPDATE nodepools SET status_dirty = true, status_revision = status_revision + 1
    WHERE cluster_id = NEW.id AND deleted_at IS NULL AND platform_of(spec) IS NULL;
  END IF;
  UPDATE reconciliation_schedule
  SET next_reconcile_at = least(next_reconcile_at, clock_timestamp()), attention = true, unanswered = 0,
      updated_at = clock_timestamp()
  WHERE cluster_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER schedule_pulled AFTER UPDATE ON clusters FOR EACH ROW
  WHEN (OLD.generation IS DISTINCT FROM NEW.generation) EXECUTE FUNCTION cluster_changed();

CREATE FUNCTION nodepool_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE nodepool_reconciliation_schedule
  SET next_reconcile_at = least(next_reconcile_at, clock_timestamp()), attention = true, unanswered = 0,
      updated_at = clock_timestamp()
  WHERE nodepool_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER schedule_pulled AFTER UPDATE ON nodepools FOR EACH ROW
  WHEN (OLD.generation IS DISTINCT FROM NEW.generation) EXECUTE FUNCTION nodepool_changed();

-- Any report may change the status; one that says something new brings the next announcement nearer.
CREATE FUNCTION cluster_reported() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE clusters SET status_dirty = true, status_revision = status_revision + 1
  WHERE id = coalesce(NEW.cluster_id, OLD.cluster_id);
  IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND
     (NEW.conditions, NEW.metadata, NEW.last_error, NEW.observed_generation) IS DISTINCT FROM
     (OLD.conditions, OLD.metadata, OLD.last_error, OLD.observed_generation)) THEN
    UPDATE reconciliation_schedule
    SET next_reconcile_at = clock_timestamp() + interval '30 s', updated_at = clock_timestamp()
    WHERE cluster_id = NEW.cluster_id AND next_reconcile_at > clock_timestamp() + interval '30 s';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER status_dirtied AFTER INSERT OR UPDATE OR DELETE ON controller_status
  FOR EACH ROW EXECUTE FUNCTION cluster_reported();

CREATE FUNCTION nodepool_reported() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE nodepools SET status_dirty = true, status_revision = status_revision + 1
  WHERE id = coalesce(NEW.nodepool_id, OLD.nodepool_id);
  IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND
     (NEW.conditions, NEW.metadata, NEW.last_error, NEW.observed_generation) IS DISTINCT FROM
     (OLD.conditions, OLD.metadata, OLD.last_error, OLD.observed_generation)) THEN
    UPDATE nodepool_reconciliation_schedule
    SET next_reconcile_at = clock_timestamp() + interval '30 s', updated_at = clock_timestamp()
    WHERE nodepool_id = NEW.nodepool_id AND next_reconcile_at > clock_timestamp() + interval '30 s';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER status_dirtied AFTER INSERT OR UPDATE OR DELETE ON nodepool_controller_status
  FOR EACH ROW EXECUTE FUNCTION nodepool_reported();

-- Who is expected decides the status too. Rows in their order, clusters before nodepools: two changes of the registry
-- never wait for each other in a circle.
CREATE FUNCTION controller_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  controller CONSTANT text := coalesce(NEW.name, OLD.name);
  kinds CONSTANT text[] := coalesce(OLD.kinds, '{}') || coalesce(NEW.kinds, '{}');
  -- Without platforms, before or after, it is about all of them.
  platforms CONSTANT text[] := CASE
    WHEN OLD.platforms = '{}' OR NEW.platforms = '{}' THEN NULL
    ELSE coalesce(OLD.platforms, '{}') || coalesce(NEW.platforms, '{}') END;
BEGIN
  WITH concerned AS (
    SELECT c.id FROM clusters c
    WHERE c.deleted_at IS NULL
      AND ('cluster' = ANY (kinds) AND (platforms IS NULL OR platform_of(c.spec) = ANY (platforms))
           OR EXISTS (SELECT FROM controller_status s
                      WHERE s.cluster_id = c.id AND s.controller_name = controller))
    ORDER BY c.id FOR NO KEY UPDATE
  )
  UPDATE clusters c SET status_dirty = true, status_revision = status_revision + 1
  FROM concerned WHERE c.id = concerned.id;
  WITH concerned AS (
    SELECT n.id FROM nodepools n JOIN clusters c ON c.id = n.cluster_id
    WHERE n.deleted_at IS NULL
      AND ('nodepool' = ANY (kinds)
           AND (platforms IS NULL OR coalesce(platform_of(n.spec), platform_of(c.spec)) = ANY (platforms))
           OR EXISTS (SELECT FROM nodepool_controller_status s
                      WHERE s.nodepool_id = n.id AND s.controller_name = controller))
    ORDER BY n.id FOR NO KEY UPDATE OF n
  )
  UPDATE nodepools n SET status_dirty = true, status_revision = status_revision + 1
  FROM concerned WHERE n.id = concerned.id;
  RETURN NULL;
END $$;
CREATE TRIGGER expectation_inserted AFTER INSERT OR DELETE ON controllers
  FOR EACH ROW EXECUTE FUNCTION controller_changed();
CREATE TRIGGER expectation_changed AFTER UPDATE ON controllers FOR EACH ROW
  WHEN ((OLD.kinds, OLD.platforms, OLD.retired_at IS NULL) IS DISTINCT FROM
        (NEW.kinds, NEW.platforms, NEW.retired_at IS NULL))
  EXECUTE FUNCTION controller_changed();

-- A resource that is purged leaves nothing behind.
CREATE FUNCTION resource_purged() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM finalizers WHERE kind = TG_ARGV[0] AND resource_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER purged AFTER DELETE ON clusters FOR EACH ROW EXECUTE FUNCTION resource_purged('cluster');
CREATE TRIGGER purged AFTER DELETE ON nodepools FOR EACH ROW EXECUTE FUNCTION resource_purged('nodepool');
