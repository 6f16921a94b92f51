-- What an event says, in one place for REST and for set-based writers. Specs are never in it.

-- The topic of a type of event; those without one are for readers of the stream and the audit.
CREATE FUNCTION topic_of(type text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN type IN ('cluster.created', 'cluster.updated', 'cluster.deleted', 'cluster.reconcile')
      THEN 'cluster-events'
    WHEN type IN ('nodepool.created', 'nodepool.updated', 'nodepool.deleted', 'nodepool.reconcile')
      THEN 'nodepool-events'
  END
$$;

-- The caller is {email, domain, roles, organization_id?}; without one the owner stands there.
CREATE FUNCTION event_data(
  event_id uuid, type text, cluster_id uuid, nodepool_id uuid, generation bigint, platform text, reason text,
  created_by text, caller jsonb, metadata jsonb
) RETURNS jsonb LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT jsonb_build_object(
      'id', event_id, 'type', type, 'event_type', type, 'cluster_id', cluster_id, 'generation', generation,
      'platform', coalesce(lower(platform), ''), 'reason', reason,
      'timestamp', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'source', 'cls-backend', 'created_by', created_by,
      'user', coalesce(caller, jsonb_build_object(
        'email', created_by, 'domain', split_part(created_by, '@', 2), 'roles', '[]'::jsonb)),
      'metadata', coalesce(metadata, '{}'))
    || CASE WHEN nodepool_id IS NULL THEN '{}' ELSE jsonb_build_object('nodepool_id', nodepool_id) END
$$;

-- The same for receivers that filter before they read: texts only. Whoever caused a wake can skip it.
CREATE FUNCTION event_attributes(data jsonb) RETURNS jsonb LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT (data - 'id' - 'user' - 'metadata')
    || jsonb_build_object(
      'event_id', data ->> 'id', 'generation', data ->> 'generation',
      'user_email', data #>> '{user,email}', 'user_domain', data #>> '{user,domain}',
      'user_roles', (SELECT coalesce(string_agg(role, ',' ORDER BY place), '')
                     FROM jsonb_array_elements_text(data #> '{user,roles}') WITH ORDINALITY AS r (role, place)))
    || CASE WHEN data #>> '{metadata,controller_name}' IS NULL THEN '{}'
            ELSE jsonb_build_object('controller_name', data #>> '{metadata,controller_name}') END
$$;

-- History begins where an event gets its position. The scheduler's announcements are no history.
CREATE FUNCTION audit_events() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO audit (position, at, actor, action, kind, resource_id, data)
  SELECT position, created_at, data #>> '{user,email}', data ->> 'type',
         CASE WHEN data ? 'nodepool_id' THEN 'nodepool' ELSE 'cluster' END, ordering_key::uuid, data
  FROM numbered
  WHERE NOT (data -> 'metadata') ? 'scheduled_by'
  ORDER BY position;
  RETURN NULL;
END $$;
CREATE TRIGGER audited AFTER INSERT ON outbox REFERENCING NEW TABLE AS numbered
  FOR EACH STATEMENT EXECUTE FUNCTION audit_events();
