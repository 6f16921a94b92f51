-- A row of a usual kind needs no version, as a request does not (resources/kinds.ts).
CREATE FUNCTION usual_version(kind text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN kind IN ('Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet') THEN 'apps/v1'
    WHEN kind IN ('Service', 'ConfigMap', 'Secret', 'Pod', 'Namespace') THEN 'v1'
    WHEN kind IN ('Ingress', 'NetworkPolicy') THEN 'networking.k8s.io/v1'
    WHEN kind IN ('Job', 'CronJob') THEN 'batch/v1'
  END
$$;

CREATE OR REPLACE FUNCTION begin_generations() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  NEW.generation := 1;
  NEW.api_version := coalesce(NEW.api_version, usual_version(NEW.kind));
  NEW.created_at := utc_now();
  NEW.updated_at := NEW.created_at;
  IF NEW.deleted_at IS NOT NULL THEN NEW.deleted_at := NEW.created_at; END IF;
  RETURN NEW;
END $$;
