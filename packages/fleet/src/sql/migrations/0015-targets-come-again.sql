-- A target that leaves takes nothing along that somebody wants in it, and one that comes again is not mistaken for older.

-- What was seen of a resource stays when its target goes, with the fence of whoever saw it. Whoever watches the target that
-- is registered anew has a higher one: else nothing that is seen from then on would be believed.
CREATE FUNCTION last_fence(cluster text) RETURNS bigint LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
  SELECT coalesce(max(c.fence), 0)
  FROM resources r JOIN resource_current_states c ON c.resource_id = r.id
  WHERE r.cluster_id = cluster
$$;

CREATE FUNCTION fence_goes_on() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  NEW.fence := greatest(NEW.fence, last_fence(NEW.cluster_id));
  RETURN NEW;
END $$;
CREATE TRIGGER fence_goes_on BEFORE INSERT ON targets FOR EACH ROW EXECUTE FUNCTION fence_goes_on();

-- Those that came again before this.
UPDATE targets SET fence = last_fence(cluster_id) WHERE fence < last_fence(cluster_id);

-- A global resource goes after its last copy. A target that leaves goes after the last resource in it: somebody may have
-- wanted one there since, and it was delivered. Not refused instead: who writes it and who lets the target go do not see
-- each other until they commit.
CREATE OR REPLACE FUNCTION remove_what_left(globals integer[], clusters text[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM global_resources g
  WHERE g.deleted_at IS NOT NULL AND (globals IS NULL OR g.id = ANY (globals))
    AND NOT EXISTS (SELECT FROM resources r WHERE r.global_id = g.id);
  DELETE FROM targets t
  WHERE t.deleted_at IS NOT NULL AND (clusters IS NULL OR t.cluster_id = ANY (clusters))
    AND NOT EXISTS (SELECT FROM resources r WHERE r.cluster_id = t.cluster_id);
END $$;

CREATE OR REPLACE FUNCTION resources_left() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
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
  IF EXISTS (SELECT FROM former WHERE global_id IS NOT NULL)
     OR EXISTS (SELECT FROM former f JOIN targets t ON t.cluster_id = f.cluster_id WHERE t.deleted_at IS NOT NULL) THEN
    -- Of the last two of a global resource, or of a target, that go at once the later one sees that it is the last.
    PERFORM lock_globals();
    -- Whoever forgets a global resource is about to delete it.
    PERFORM remove_what_left(
      CASE WHEN is_forgetting THEN '{}'
           ELSE coalesce(array_agg(DISTINCT global_id) FILTER (WHERE global_id IS NOT NULL), '{}') END,
      array_agg(DISTINCT cluster_id::text))
    FROM former;
  END IF;
  RETURN NULL;
END $$;
