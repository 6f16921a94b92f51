-- One row a resource as before, but by one command for all that a statement inserts. Names are written out: to set a search
-- path for each call took as long as the insert itself.
DROP TRIGGER schedule_begins ON clusters;
CREATE OR REPLACE FUNCTION cluster_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO lifecycle.reconciliation_schedule (cluster_id, next_reconcile_at)
  SELECT id, clock_timestamp() FROM made;
  RETURN NULL;
END $$;
CREATE TRIGGER schedule_begins AFTER INSERT ON clusters REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION cluster_inserted();

DROP TRIGGER schedule_begins ON nodepools;
CREATE OR REPLACE FUNCTION nodepool_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO lifecycle.nodepool_reconciliation_schedule (nodepool_id, next_reconcile_at)
  SELECT id, clock_timestamp() FROM made;
  RETURN NULL;
END $$;
CREATE TRIGGER schedule_begins AFTER INSERT ON nodepools REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION nodepool_inserted();
