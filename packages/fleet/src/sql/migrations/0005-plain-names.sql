-- So that a plain psql finds the tables by their names, and means UTC. Where the database belongs to somebody else,
-- our own connections say both for themselves.
DO $$
BEGIN
  EXECUTE format('ALTER DATABASE %I SET search_path = fleet, lifecycle, public', current_database());
  EXECUTE format('ALTER DATABASE %I SET timezone = %L', current_database(), 'UTC');
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'the owner of database % may set its search_path to fleet, lifecycle, public and its timezone to UTC',
    current_database();
END $$;
