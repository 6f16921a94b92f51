// What a Kubernetes object is, as pure rules that run anywhere.

export type {
  BuiltinColumn,
  BuiltinKind,
  BuiltinSubresource,
  Switches,
} from "./kinds/builtin-kind.ts";
export { usualSwitches } from "./kinds/builtin-kind.ts";
export type { Defaults, KindName } from "./kinds/builtin-kinds.ts";
export { BuiltinKinds, loadBuiltinKinds } from "./kinds/builtin-kinds.ts";
export type { FieldType, GoField, GoStruct, Scalar } from "./kinds/go-struct.ts";
export { openApiTypeName, shortTypeName } from "./kinds/type-name.ts";
