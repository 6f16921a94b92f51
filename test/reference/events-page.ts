// docs/reference/events.md: what subscribers are told, by whom, and what it means.

import { eventMeanings, reasonMeanings } from "@keelson/clusters";
import { fleetEventMeanings } from "@keelson/fleet";
import { happeningReasons, typeOfHappening, type HappeningReason } from "@keelson/platform";

export function eventsPage(): string {
  const happenings = Object.entries(happeningReasons).map(
    ([reason, { meaning }]) =>
      [reason, typeOfHappening(reason as HappeningReason), meaning] as const,
  );
  return `# Events

An event commits with the change that it tells of. Nobody is told of anything that was undone.

## Fleet

\`GET /api/v1/events\`, as server-sent events. \`Last-Event-ID\` goes on after that one; \`cluster_id\`, \`resource_id\` and \`type\` choose. The data
are JSON with identity, generation, revision, status, health, actor and change set; never a spec.

${table(["type", "meaning"], Object.entries(fleetEventMeanings))}

## Clusters

\`GET /api/v1/events?topic=cluster-events\` or \`nodepool-events\` for controllers, on Pub/Sub the topics of these names; \`GET
/api/v1/clusters/{id}/events\` is the history of one. Those that are finalized, and \`status.changed\`, are in the history and in its stream alone.

${table(["type", "meaning"], Object.entries(eventMeanings))}

\`reason\` says why there is one:

${table(["reason", "meaning"], Object.entries(reasonMeanings))}

## Platform

Events of Kubernetes about an Application or a PreviewEnvironment: \`kubectl describe\` shows them.

${table(["reason", "type", "meaning"], happenings)}
`;
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const [heads, lines] = [headings.join(" | "), headings.map(() => "---").join("|")];
  const shown = rows.map(([name = "", ...rest]) => `| \`${name}\` | ${rest.join(" | ")} |`);
  return [`| ${heads} |`, `|${lines}|`, ...shown].join("\n");
}
