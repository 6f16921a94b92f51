-- A change of a target is told like one of a resource: in its own transaction, and workers are woken to follow it.

ALTER TABLE targets ADD COLUMN deleted_at TIMESTAMPTZ; -- It leaves: it goes when the last copy in it has gone.

-- How far a target may be trusted to be as it is shown. Never its credential.
CREATE FUNCTION told_of_target(t targets) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object(
    'server', t.server, 'labels', t.labels, 'paused', t.paused, 'health', t.health, 'message', t.health_message)
$$;

CREATE FUNCTION tell_of_target() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  it CONSTANT targets := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
BEGIN
  INSERT INTO events_unnumbered (type, cluster_id, actor, change_set, data)
  VALUES ('target.' || coalesce(TG_ARGV[0], lower(it.health)), it.cluster_id, fleet_actor(), fleet_change_set(),
          told_of_target(it));
  IF TG_NARGS > 0 THEN PERFORM wake_workers(); END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION stamp_target() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at := now();
  RETURN NEW;
END $$;

CREATE TRIGGER created AFTER INSERT ON targets
  FOR EACH ROW EXECUTE FUNCTION tell_of_target('created');
CREATE TRIGGER deleted AFTER DELETE ON targets
  FOR EACH ROW EXECUTE FUNCTION tell_of_target('deleted');
-- What somebody has decided; contacts and leases are no news.
CREATE TRIGGER stamp BEFORE UPDATE ON targets FOR EACH ROW
  WHEN ((OLD.credential, OLD.in_process, OLD.agent, OLD.server, OLD.labels, OLD.paused, OLD.deleted_at)
        IS DISTINCT FROM
        (NEW.credential, NEW.in_process, NEW.agent, NEW.server, NEW.labels, NEW.paused, NEW.deleted_at))
  EXECUTE FUNCTION stamp_target();
CREATE TRIGGER updated AFTER UPDATE ON targets FOR EACH ROW
  WHEN ((OLD.credential, OLD.in_process, OLD.agent, OLD.server, OLD.labels, OLD.paused, OLD.deleted_at)
        IS DISTINCT FROM
        (NEW.credential, NEW.in_process, NEW.agent, NEW.server, NEW.labels, NEW.paused, NEW.deleted_at))
  EXECUTE FUNCTION tell_of_target('updated');
CREATE TRIGGER health_changed AFTER UPDATE ON targets FOR EACH ROW
  WHEN (OLD.health IS DISTINCT FROM NEW.health)
  EXECUTE FUNCTION tell_of_target();
