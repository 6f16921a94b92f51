// The versions of a definition as messages show them.

import type { Json } from "@keelson/base";

import { printShape, struct, type Shape } from "../../../go-text/struct-text.ts";
import { maybeObject } from "../../../object/members.ts";
import { schemaShape, structured } from "../../../schema/schema-text.ts";
import { shared, type VersionForm } from "./definition-form.ts";

const versionShape = struct(
  `Name name string
  Served served boolean
  Storage storage boolean
  Deprecated deprecated boolean
  DeprecationWarning deprecationWarning *string
  Schema schema *validation
  Subresources subresources *subresources
  AdditionalPrinterColumns additionalPrinterColumns []column
  SelectableFields selectableFields []selectable`,
  {
    validation: () =>
      struct("OpenAPIV3Schema openAPIV3Schema *schema", { schema: () => schemaShape }),
    subresources: () =>
      struct("Status status *empty\nScale scale *scale", {
        empty: (): Shape => ({ fields: [] }),
        scale: () =>
          struct(
            `SpecReplicasPath specReplicasPath string
            StatusReplicasPath statusReplicasPath string
            LabelSelectorPath labelSelectorPath *string`,
          ),
      }),
    column: () =>
      struct(
        `Name name string
        Type type string
        Format format string
        Description description string
        Priority priority number
        JSONPath jsonPath string`,
      ),
    selectable: () => struct("JSONPath jsonPath string"),
  },
);

/** What a version shows only where other versions have not the same. */
const shareable: ReadonlySet<string> = new Set(Object.keys(shared));

export function versionsText(versions: readonly VersionForm[]): string {
  const listed = versions.map(({ written, name: _name, ...own }): Json => {
    const plain = Object.entries(written).filter(([name]) => !shareable.has(name));
    const kept = own.schema && maybeObject(own.schema, "openAPIV3Schema");
    return {
      ...Object.fromEntries(plain),
      ...own,
      ...(kept === undefined ? {} : { schema: { openAPIV3Schema: structured(kept) } }),
    };
  });
  return printShape({ list: versionShape }, listed);
}
