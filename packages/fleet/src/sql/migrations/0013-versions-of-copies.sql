-- A copy has the version of its global resource, also none where that has none, as rows from before 0012 may: under another it
-- would be missed for ever.
CREATE OR REPLACE FUNCTION begin_generations() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  NEW.generation := 1;
  IF fleet_setting('placing') IS NULL THEN
    NEW.api_version := coalesce(NEW.api_version, usual_version(NEW.kind));
  END IF;
  NEW.created_at := utc_now();
  NEW.updated_at := NEW.created_at;
  IF NEW.deleted_at IS NOT NULL THEN NEW.deleted_at := NEW.created_at; END IF;
  RETURN NEW;
END $$;
