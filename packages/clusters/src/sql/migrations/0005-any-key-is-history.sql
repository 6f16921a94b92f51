-- Somebody with SQL may write an event whose key is no id, or which does not say who or what. It must not hold up the
-- numbering, which is everybody's: history takes it as far as it can be told.
CREATE OR REPLACE FUNCTION audit_events() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO audit (position, at, actor, action, kind, resource_id, data)
  SELECT position, created_at, coalesce(data #>> '{user,email}', data ->> 'created_by', 'unknown'),
         coalesce(data ->> 'type', 'unknown'),
         CASE WHEN data ? 'nodepool_id' THEN 'nodepool' ELSE 'cluster' END,
         CASE WHEN ordering_key ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN ordering_key::uuid END, data
  FROM numbered
  WHERE NOT coalesce((data -> 'metadata') ? 'scheduled_by', false)
  ORDER BY position;
  RETURN NULL;
END $$;
