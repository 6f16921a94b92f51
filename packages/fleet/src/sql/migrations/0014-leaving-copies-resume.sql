-- A copy that is leaving is paused and resumed with its global resource: nobody else could let it go on.
CREATE FUNCTION pause_leaving_copies(globals integer[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
DECLARE
  kept_revision CONSTANT text := coalesce(fleet_setting('keeps_revision'), '');
  was_placing CONSTANT text := coalesce(fleet_setting('placing'), '');
BEGIN
  PERFORM lock_globals();
  PERFORM set_config('fleet.placing', 'on', true), set_config('fleet.keeps_revision', 'on', true);
  UPDATE resources r SET paused = g.paused
  FROM global_resources g
  WHERE g.id = r.global_id AND r.deleted_at IS NOT NULL AND r.paused <> g.paused
    AND (globals IS NULL OR g.id = ANY (globals));
  PERFORM set_config('fleet.placing', was_placing, true), set_config('fleet.keeps_revision', kept_revision, true);
END $$;

CREATE FUNCTION globals_paused() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM pause_leaving_copies(array_agg(w.id))
  FROM written w JOIN former f ON f.id = w.id WHERE w.paused <> f.paused HAVING count(*) > 0;
  RETURN NULL;
END $$;
CREATE TRIGGER x_paused AFTER UPDATE ON global_resources REFERENCING OLD TABLE AS former NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION globals_paused();

-- What was resumed before this.
SELECT pause_leaving_copies(NULL);
