-- Wakes after reports, so many a minute for each resource; and announcements that nobody answers.

-- The wakes of the last minute, and the one that waits until there is room: with nobody's name where reports of
-- several controllers wait in it, because each of them wants to hear of the others.
ALTER TABLE reconciliation_schedule
  ADD COLUMN woken_at timestamptz[] NOT NULL DEFAULT '{}',
  ADD COLUMN wake_due_at timestamptz,
  ADD COLUMN wake_reason text,
  ADD COLUMN wake_controller text,
  ADD COLUMN wake_caller jsonb;
CREATE INDEX schedule_wakes ON reconciliation_schedule (wake_due_at) WHERE wake_due_at IS NOT NULL;
ALTER TABLE nodepool_reconciliation_schedule
  ADD COLUMN woken_at timestamptz[] NOT NULL DEFAULT '{}',
  ADD COLUMN wake_due_at timestamptz,
  ADD COLUMN wake_reason text,
  ADD COLUMN wake_controller text,
  ADD COLUMN wake_caller jsonb;
CREATE INDEX nodepool_schedule_wakes ON nodepool_reconciliation_schedule (wake_due_at)
  WHERE wake_due_at IS NOT NULL;

CREATE FUNCTION is_available(conditions jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT conditions @> '[{"type": "Available", "status": "True"}]' $$;

CREATE FUNCTION is_not_applicable(conditions jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT conditions @> '[{"type": "NotApplicable", "status": "True"}]'
    OR EXISTS (SELECT FROM jsonb_array_elements(conditions) c
               WHERE c ->> 'type' IN ('Applied', 'Available') AND c ->> 'status' <> 'True'
                 AND c ->> 'reason' = 'NotApplicable')
$$;

-- How many controllers a resource expects, how many of them have not reported for its generation, and how many it
-- waits for: those, and whoever is not Available.
CREATE FUNCTION expectations_of_cluster(
  cluster_id uuid, generation bigint, platform text, OUT expected bigint, OUT behind bigint, OUT awaited bigint
) LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
  SELECT count(*), count(*) FILTER (WHERE NOT e.is_current), count(*) FILTER (WHERE NOT (e.is_current AND e.is_available))
  FROM (
    SELECT coalesce(s.observed_generation >= $2, false) AS is_current,
           coalesce(is_available(s.conditions), false) AS is_available
    FROM (SELECT * FROM controller_status s WHERE s.cluster_id = $1) s
    FULL JOIN (SELECT name FROM controllers k
               WHERE k.retired_at IS NULL AND 'cluster' = ANY (k.kinds)
                 AND (k.platforms = '{}' OR $3 = ANY (k.platforms))) k ON k.name = s.controller_name
    WHERE NOT EXISTS (SELECT FROM controllers x WHERE x.name = s.controller_name AND x.retired_at IS NOT NULL)
      AND NOT coalesce(s.observed_generation = $2 AND is_not_applicable(s.conditions), false)
  ) e
$$;

CREATE FUNCTION expectations_of_nodepool(
  nodepool_id uuid, generation bigint, platform text, OUT expected bigint, OUT behind bigint, OUT awaited bigint
) LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
  SELECT count(*), count(*) FILTER (WHERE NOT e.is_current), count(*) FILTER (WHERE NOT (e.is_current AND e.is_available))
  FROM (
    SELECT coalesce(s.observed_generation >= $2, false) AS is_current,
           coalesce(is_available(s.conditions), false) AS is_available
    FROM (SELECT * FROM nodepool_controller_status s WHERE s.nodepool_id = $1) s
    FULL JOIN (SELECT name FROM controllers k
               WHERE k.retired_at IS NULL AND 'nodepool' = ANY (k.kinds)
                 AND (k.platforms = '{}' OR $3 = ANY (k.platforms))) k ON k.name = s.controller_name
    WHERE NOT EXISTS (SELECT FROM controllers x WHERE x.name = s.controller_name AND x.retired_at IS NOT NULL)
      AND NOT coalesce(s.observed_generation = $2 AND is_not_applicable(s.conditions), false)
  ) e
$$;

-- A report of somebody who was waited for answers the announcements before it; where nobody is expected, anybody's does.
-- The trigger looks at what the same controller had said before: afterwards nobody could tell who was waited for.
CREATE FUNCTION cluster_answered() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE reconciliation_schedule s
  SET unanswered = 0, next_reconcile_at = least(s.next_reconcile_at, clock_timestamp() + interval '30 s')
  FROM clusters r
  WHERE s.cluster_id = NEW.cluster_id AND r.id = NEW.cluster_id AND s.unanswered > 0
    AND (TG_OP = 'INSERT' OR OLD.observed_generation < r.generation
         OR NOT (is_available(OLD.conditions) OR is_not_applicable(OLD.conditions))
         OR (SELECT expected = 0 FROM expectations_of_cluster(r.id, r.generation, platform_of(r.spec))));
  RETURN NULL;
END $$;
CREATE TRIGGER waiting_ends AFTER INSERT OR UPDATE ON controller_status
  FOR EACH ROW EXECUTE FUNCTION cluster_answered();

CREATE FUNCTION nodepool_answered() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE nodepool_reconciliation_schedule s
  SET unanswered = 0, next_reconcile_at = least(s.next_reconcile_at, clock_timestamp() + interval '30 s')
  FROM nodepools r JOIN clusters c ON c.id = r.cluster_id
  WHERE s.nodepool_id = NEW.nodepool_id AND r.id = NEW.nodepool_id AND s.unanswered > 0
    AND (TG_OP = 'INSERT' OR OLD.observed_generation < r.generation
         OR NOT (is_available(OLD.conditions) OR is_not_applicable(OLD.conditions))
         OR (SELECT expected = 0 FROM expectations_of_nodepool(
               r.id, r.generation, coalesce(platform_of(r.spec), platform_of(c.spec)))));
  RETURN NULL;
END $$;
CREATE TRIGGER waiting_ends AFTER INSERT OR UPDATE ON nodepool_controller_status
  FOR EACH ROW EXECUTE FUNCTION nodepool_answered();
