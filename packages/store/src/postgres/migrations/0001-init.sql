-- Keys compare bytewise, whatever the database's locale.
CREATE TABLE resources (
  api_group text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  resource_version bigint NOT NULL,
  generation bigint NOT NULL DEFAULT 1,
  uid text NOT NULL,
  api_version text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  -- The whole body, authoritative. Text: jsonb refuses NUL and rewrites numbers.
  object text NOT NULL,
  -- Derived for whoever queries by SQL. All are NULL where jsonb cannot hold the body; then `spec` is NULL too.
  spec jsonb,
  status jsonb,
  labels jsonb,
  annotations jsonb,
  finalizers jsonb,
  owner_references jsonb,
  managed_fields jsonb,
  PRIMARY KEY (api_group, kind, namespace, name)
) WITH (fillfactor = 70);

-- The log: the only source of watches.
CREATE TABLE changes (
  revision bigint PRIMARY KEY,
  type text NOT NULL CHECK (type IN ('ADDED', 'MODIFIED', 'DELETED')),
  api_group text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  uid text NOT NULL,
  object text NOT NULL,
  -- The body before. NULL for ADDED; NULL for DELETED too if it is the same as `object`.
  previous text,
  previous_revision bigint
);
CREATE INDEX changes_key ON changes (api_group, kind, namespace, name, revision);
CREATE INDEX changes_deleted ON changes (api_group, kind, namespace, name, revision) WHERE type = 'DELETED';

-- How many objects there are, so that nobody has to count.
CREATE TABLE counts (
  api_group text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  namespace text COLLATE "C" NOT NULL,
  objects bigint NOT NULL,
  PRIMARY KEY (api_group, kind, namespace)
) WITH (fillfactor = 50);

-- One row. The log holds every change after `floor` up to `head`. Every batch locks it first.
CREATE TABLE meta (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  head bigint NOT NULL,
  floor bigint NOT NULL,
  schema_version integer NOT NULL,
  identity uuid NOT NULL,
  -- The database that this state belongs to: another one means that it was restored.
  system_identifier text,
  timeline bigint
) WITH (fillfactor = 10);
INSERT INTO meta (head, floor, schema_version, identity) VALUES (1, 1, 1, gen_random_uuid());

-- Work that one process at a time may do.
CREATE TABLE leases (
  name text PRIMARY KEY,
  holder text NOT NULL,
  token bigint NOT NULL,
  expires_at timestamptz NOT NULL
);

-- A body as jsonb, or NULL where jsonb cannot hold it.
CREATE FUNCTION try_jsonb(body text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN body::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  RETURN NULL;
END
$$;

-- Wakes every replica: at most one notification a transaction, the head and nothing else.
CREATE FUNCTION wake_up() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  newest bigint := (SELECT max(revision) FROM inserted);
BEGIN
  IF newest IS NOT NULL THEN
    PERFORM pg_notify('ark_resources', newest::text);
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER wake_up AFTER INSERT ON changes REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION wake_up();

-- What is acknowledged is on disk, whatever a role or database has set. Stronger settings stay; a setting of the
-- function itself would be undone before the commit.
CREATE FUNCTION durably() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
END
$$;

-- Commits a batch of writes, no two of which name the same object, in one round trip.
--
-- The counter row is locked first and held to the end of the transaction: revisions are
-- assigned in commit order. The second statement begins after that lock was granted, so
-- its snapshot holds whatever the holder before us has committed.
CREATE FUNCTION write_batch(
  types text[], groups text[], kinds text[], namespaces text[], names text[],
  expect_revisions bigint[], expect_uids text[],
  uids text[], api_versions text[], generations bigint[], deleted_ats timestamptz[],
  objects text[], plains boolean[]
) RETURNS TABLE (
  ordinal bigint, verdict text, revision bigint, actual_revision bigint, actual_uid text, body_before text, head bigint
)
LANGUAGE plpgsql
-- The plan must not depend on how small the tables were when it was made.
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET search_path FROM CURRENT
AS $$
#variable_conflict use_column
DECLARE
  counter bigint;
BEGIN
  PERFORM durably();
  SELECT m.head INTO counter FROM meta m FOR UPDATE;
  RETURN QUERY
  WITH judged AS MATERIALIZED (
    SELECT i.*, r.resource_version AS old_revision, r.uid AS old_uid, r.object AS old_object,
      CASE
        WHEN i.type = 'create' THEN CASE WHEN r.name IS NULL THEN 'written' ELSE 'exists' END
        WHEN r.name IS NULL THEN 'missing'
        WHEN i.expect_revision <> r.resource_version OR i.expect_uid <> r.uid THEN 'conflict'
        WHEN i.type = 'update' AND i.object = r.object THEN 'unchanged'
        ELSE 'written'
      END AS verdict
    FROM unnest(types, groups, kinds, namespaces, names, expect_revisions, expect_uids, uids,
        api_versions, generations, deleted_ats, objects, plains)
      WITH ORDINALITY AS i (type, api_group, kind, namespace, name, expect_revision, expect_uid, uid,
        api_version, generation, deleted_at, object, plain, ordinal)
    LEFT JOIN resources r ON r.api_group = i.api_group AND r.kind = i.kind
      AND r.namespace = i.namespace AND r.name = i.name
  ), numbered AS MATERIALIZED (
    SELECT j.*, counter + count(*) FILTER (WHERE j.verdict = 'written') OVER (ORDER BY j.ordinal) AS revision,
      CASE WHEN j.verdict = 'written' AND j.type <> 'delete' THEN
        CASE WHEN j.plain THEN j.object::jsonb ELSE try_jsonb(j.object) END
      END AS value
    FROM judged j
  ), created AS (
    INSERT INTO resources (api_group, kind, namespace, name, resource_version, generation, uid, api_version,
      deleted_at, object, spec, status, labels, annotations, finalizers, owner_references, managed_fields)
    SELECT n.api_group, n.kind, n.namespace, n.name, n.revision, n.generation, n.uid, n.api_version,
      n.deleted_at, n.object, coalesce(n.value -> 'spec', CASE WHEN n.value IS NOT NULL THEN '{}'::jsonb END),
      n.value -> 'status', n.value #> '{metadata,labels}', n.value #> '{metadata,annotations}',
      n.value #> '{metadata,finalizers}', n.value #> '{metadata,ownerReferences}', n.value #> '{metadata,managedFields}'
    FROM numbered n WHERE n.verdict = 'written' AND n.type = 'create'
  ), updated AS (
    UPDATE resources r SET resource_version = n.revision, generation = n.generation, uid = n.uid,
      api_version = n.api_version, updated_at = now(), deleted_at = n.deleted_at, object = n.object,
      spec = coalesce(n.value -> 'spec', CASE WHEN n.value IS NOT NULL THEN '{}'::jsonb END),
      status = n.value -> 'status', labels = n.value #> '{metadata,labels}',
      annotations = n.value #> '{metadata,annotations}', finalizers = n.value #> '{metadata,finalizers}',
      owner_references = n.value #> '{metadata,ownerReferences}', managed_fields = n.value #> '{metadata,managedFields}'
    FROM numbered n WHERE n.verdict = 'written' AND n.type = 'update'
      AND r.api_group = n.api_group AND r.kind = n.kind AND r.namespace = n.namespace AND r.name = n.name
  ), deleted AS (
    DELETE FROM resources r USING numbered n WHERE n.verdict = 'written' AND n.type = 'delete'
      AND r.api_group = n.api_group AND r.kind = n.kind AND r.namespace = n.namespace AND r.name = n.name
  ), logged AS (
    INSERT INTO changes (revision, type, api_group, kind, namespace, name, uid, object, previous, previous_revision)
    SELECT n.revision, CASE n.type WHEN 'create' THEN 'ADDED' WHEN 'update' THEN 'MODIFIED' ELSE 'DELETED' END,
      n.api_group, n.kind, n.namespace, n.name, coalesce(n.uid, n.old_uid), coalesce(n.object, n.old_object),
      CASE WHEN n.object IS NOT NULL THEN n.old_object END, n.old_revision
    FROM numbered n WHERE n.verdict = 'written' ORDER BY n.revision
  ), counted AS (
    INSERT INTO counts AS c (api_group, kind, namespace, objects)
    SELECT n.api_group, n.kind, n.namespace, sum(CASE n.type WHEN 'create' THEN 1 ELSE -1 END)
    FROM numbered n WHERE n.verdict = 'written' AND n.type <> 'update'
    GROUP BY n.api_group, n.kind, n.namespace
    ON CONFLICT (api_group, kind, namespace) DO UPDATE SET objects = c.objects + excluded.objects
  ), advanced AS (
    UPDATE meta m SET head = (SELECT max(n.revision) FROM numbered n)
    WHERE EXISTS (SELECT FROM numbered n WHERE n.verdict = 'written')
  )
  SELECT n.ordinal, n.verdict, n.revision, n.old_revision, n.old_uid,
    CASE WHEN n.type = 'delete' THEN n.old_object END, max(n.revision) OVER ()
  FROM numbered n;
END
$$;

-- Commits one write, as write_batch would: a writer that is alone would pay for every node of that plan.
CREATE FUNCTION write_one(
  new_type text, new_group text, new_kind text, new_namespace text, new_name text,
  expect_revision bigint, expect_uid text,
  new_uid text, new_api_version text, new_generation bigint, new_deleted_at timestamptz,
  new_object text, is_plain boolean
) RETURNS TABLE (
  ordinal bigint, verdict text, revision bigint, actual_revision bigint, actual_uid text, body_before text, head bigint
)
LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off
SET search_path FROM CURRENT
AS $$
#variable_conflict use_variable
DECLARE
  old_object text;
  value jsonb;
BEGIN
  PERFORM durably();
  ordinal := 1;
  SELECT m.head INTO revision FROM meta m FOR UPDATE;
  SELECT r.resource_version, r.uid, r.object INTO actual_revision, actual_uid, old_object FROM resources r
  WHERE r.api_group = new_group AND r.kind = new_kind AND r.namespace = new_namespace AND r.name = new_name;
  verdict := CASE
    WHEN new_type = 'create' THEN CASE WHEN actual_revision IS NULL THEN 'written' ELSE 'exists' END
    WHEN actual_revision IS NULL THEN 'missing'
    WHEN expect_revision <> actual_revision OR expect_uid <> actual_uid THEN 'conflict'
    WHEN new_type = 'update' AND new_object = old_object THEN 'unchanged'
    ELSE 'written'
  END;
  IF verdict = 'written' THEN
    revision := revision + 1;
    IF new_type = 'delete' THEN
      body_before := old_object;
      DELETE FROM resources r
      WHERE r.api_group = new_group AND r.kind = new_kind AND r.namespace = new_namespace AND r.name = new_name;
    ELSE
      value := CASE WHEN is_plain THEN new_object::jsonb ELSE try_jsonb(new_object) END;
    END IF;
    IF new_type = 'create' THEN
      INSERT INTO resources (api_group, kind, namespace, name, resource_version, generation, uid, api_version,
        deleted_at, object, spec, status, labels, annotations, finalizers, owner_references, managed_fields)
      VALUES (new_group, new_kind, new_namespace, new_name, revision, new_generation, new_uid, new_api_version,
        new_deleted_at, new_object, coalesce(value -> 'spec', CASE WHEN value IS NOT NULL THEN '{}'::jsonb END),
        value -> 'status', value #> '{metadata,labels}', value #> '{metadata,annotations}',
        value #> '{metadata,finalizers}', value #> '{metadata,ownerReferences}', value #> '{metadata,managedFields}');
    ELSIF new_type = 'update' THEN
      UPDATE resources r SET resource_version = revision, generation = new_generation, uid = new_uid,
        api_version = new_api_version, updated_at = now(), deleted_at = new_deleted_at, object = new_object,
        spec = coalesce(value -> 'spec', CASE WHEN value IS NOT NULL THEN '{}'::jsonb END),
        status = value -> 'status', labels = value #> '{metadata,labels}',
        annotations = value #> '{metadata,annotations}', finalizers = value #> '{metadata,finalizers}',
        owner_references = value #> '{metadata,ownerReferences}', managed_fields = value #> '{metadata,managedFields}'
      WHERE r.api_group = new_group AND r.kind = new_kind AND r.namespace = new_namespace AND r.name = new_name;
    END IF;
    INSERT INTO changes (revision, type, api_group, kind, namespace, name, uid, object, previous, previous_revision)
    VALUES (revision, CASE new_type WHEN 'create' THEN 'ADDED' WHEN 'update' THEN 'MODIFIED' ELSE 'DELETED' END,
      new_group, new_kind, new_namespace, new_name, coalesce(new_uid, actual_uid), coalesce(new_object, old_object),
      CASE WHEN new_object IS NOT NULL THEN old_object END, actual_revision);
    IF new_type <> 'update' THEN
      INSERT INTO counts AS c (api_group, kind, namespace, objects)
      VALUES (new_group, new_kind, new_namespace, CASE new_type WHEN 'create' THEN 1 ELSE -1 END)
      ON CONFLICT ON CONSTRAINT counts_pkey DO UPDATE SET objects = c.objects + excluded.objects;
    END IF;
    UPDATE meta m SET head = revision;
  END IF;
  head := revision;
  RETURN NEXT;
END
$$;

-- Cuts at most so many entries at or below a revision off the log; the floor rises with them. The last cut of a
-- run consumes a revision, so that an idle store moves on.
CREATE FUNCTION cut_log(up_to bigint, entries bigint) RETURNS TABLE (head bigint, floor bigint, done boolean)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
  m meta;
  target bigint;
  next_kept bigint;
  last_cut bigint;
BEGIN
  PERFORM durably();
  SELECT * INTO m FROM meta FOR UPDATE;
  target := least(up_to, m.head);
  SELECT c.revision INTO next_kept FROM changes c WHERE c.revision <= target ORDER BY c.revision LIMIT 1 OFFSET entries;
  last_cut := coalesce(next_kept - 1, target);
  m.floor := greatest(m.floor, last_cut);
  m.head := m.head + CASE WHEN next_kept IS NULL THEN 1 ELSE 0 END;
  DELETE FROM changes c WHERE c.revision <= last_cut;
  UPDATE meta SET head = m.head, floor = m.floor;
  RETURN QUERY SELECT m.head, m.floor, next_kept IS NULL;
END
$$;

-- Makes every revision handed out so far expire: the counter jumps further than anybody can have counted.
CREATE FUNCTION leap() RETURNS TABLE (head bigint, floor bigint)
LANGUAGE sql SET search_path FROM CURRENT AS $$
  SELECT durably();
  UPDATE meta SET head = head + 4294967296, floor = head + 4294967296 RETURNING head, floor;
$$;

-- Notes which database this state lives in. If it was another one, or another timeline, the state was restored
-- or failed over, and revisions of the future it has lost must not be honoured.
CREATE FUNCTION adopt() RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  m meta;
  here_system text := (SELECT system_identifier::text FROM pg_control_system());
  here_timeline bigint := ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint;
BEGIN
  SELECT * INTO m FROM meta FOR UPDATE;
  IF (m.system_identifier, m.timeline) IS NOT DISTINCT FROM (here_system, here_timeline) THEN
    RETURN false;
  END IF;
  UPDATE meta SET system_identifier = here_system, timeline = here_timeline;
  IF m.system_identifier IS NULL THEN
    RETURN false;
  END IF;
  PERFORM leap();
  RETURN true;
END
$$;
