import { platformDefinitions } from "@keelson/platform/kinds";
import { stringify } from "yaml";

/** `keelson crds`: what a real cluster needs to have the kinds of the platform, ready for `kubectl apply`. */
export function definitionsYaml(): string {
  const options = { lineWidth: 0, aliasDuplicateObjects: false };
  return platformDefinitions()
    .map((definition) => `---\n${stringify(definition, options)}`)
    .join("");
}
