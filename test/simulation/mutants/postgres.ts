// Planted bugs that show only on a real PostgreSQL.

import type { Mutant } from "./mutant.ts";

export const onPostgres: readonly Mutant[] = [
  {
    name: "revisions come from a sequence",
    invariant: "S2",
    stage: "postgresql",
    edits: [
      {
        file: "postgres/migrations/0001-init.sql",
        find: "  SELECT m.head INTO counter FROM meta m FOR UPDATE;\n",
        replace: "  counter := nextval('revisions');\n",
      },
      {
        file: "postgres/migrations/0001-init.sql",
        find: "-- Commits a batch of writes,",
        // Steps of a thousand: a batch takes the numbers between.
        replace:
          "CREATE SEQUENCE revisions INCREMENT 1000 START 1000;\n-- Commits a batch of writes,",
      },
      // A write without company has a function of its own.
      {
        file: "postgres/migrations/0001-init.sql",
        find: "  SELECT m.head INTO revision FROM meta m FOR UPDATE;\n",
        replace: "  revision := nextval('revisions');\n",
      },
      {
        file: "postgres/migrations/0001-init.sql",
        find: "UPDATE meta m SET head = revision;",
        replace: "UPDATE meta m SET head = greatest(m.head, revision);",
      },
      {
        file: "postgres/migrations/0001-init.sql",
        find: "UPDATE meta m SET head = (SELECT max(n.revision) FROM numbered n)",
        replace:
          "UPDATE meta m SET head = greatest(m.head, (SELECT max(n.revision) FROM numbered n))",
      },
    ],
  },
  {
    name: "commits are acknowledged before they are on disk",
    invariant: "S4",
    stage: "postgresql",
    misfortunes: ["restart"],
    edits: [
      {
        file: "postgres/migrations/0001-init.sql",
        find: "  IF current_setting('synchronous_commit') IN ('off', 'local') THEN\n    PERFORM set_config('synchronous_commit', 'on', true);",
        replace: "  IF true THEN\n    PERFORM set_config('synchronous_commit', 'off', true);",
      },
    ],
  },
];
