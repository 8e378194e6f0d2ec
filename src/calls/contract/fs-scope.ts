/** The request field that limits a call to a part of the tree, for hosts (coder §26). */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { FunctionDefinition } from "./definition.ts";

/** The name of the field. Hosts send it, and models do not see it. */
export const fsScopeField = "fs_scope";

/** Maximum grants of a scope. The jail resolves each of them. */
export const maxGrants = 100;

const since = "0.4.0";

const Grant = Type.Union([
  Type.Object({ path: Type.String(), read_only: Type.Boolean({ default: false }) }),
  Type.String(),
]);

/** The schema of the field. */
export const FsScope = Type.Object(
  {
    boundary: Type.Optional(
      Type.String({
        since,
        description:
          'Folder that nothing of the call leaves. Default: root. "workspace" means root and the grants, "configured_roots" everything.',
      }),
    ),
    grants: Type.Optional(
      Type.Array(Grant, {
        since,
        description:
          'What in it the call may touch. Default: everything. With the boundary "workspace", what it may touch beside root.',
      }),
    ),
    root: Type.String({ default: ".", description: "Folder that relative paths of the call start from." }),
  },
  {
    since,
    description:
      "Limits the call to a part of the tree, and never widens what it may do. Its own paths are relative to the served folder, or absolute.",
  },
);

export type FsScope = Static<typeof FsScope>;

/** Returns the scope in a payload or a request. Null counts as none, as in all later fields. */
export const scopeIn = (value: unknown): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, fsScopeField)
    ? ((value as Readonly<Record<string, unknown>>)[fsScopeField] ?? undefined)
    : undefined;

/**
 * The values of `boundary` that the harness of iii sends in every call of a session. They are words, not
 * folders: a folder with this name is `./workspace`.
 */
export const sessionBoundaries = ["workspace", "configured_roots"] as const;

/**
 * Returns the boundary of a scope in the form of that harness, or `undefined` for one in the form of coder.
 */
export function sessionBoundary(scope: unknown): (typeof sessionBoundaries)[number] | undefined {
  if (typeof scope !== "object" || scope === null || !Object.hasOwn(scope, "boundary")) return undefined;
  const { boundary } = scope as { readonly boundary: unknown };
  return sessionBoundaries.find((word) => word === boundary);
}

/**
 * Returns whether calls of the function can be limited: those whose paths go through the jail, and those that
 * declare it.
 */
export const takesFsScope = ({
  paths,
  takesScope = false,
}: Pick<FunctionDefinition, "paths" | "takesScope">): boolean => takesScope || paths.length > 0;

/**
 * Returns the definition with the field, if the function takes it. A published request without fields stays
 * unchanged.
 */
export function withFsScope(definition: FunctionDefinition): FunctionDefinition {
  if (!takesFsScope(definition)) return definition;
  const { request, published } = definition;
  return {
    ...definition,
    request: withField(request),
    ...(published?.["properties"] !== undefined && { published: withField(published) }),
  };
}

const withField = (request: TSchema): TSchema => ({
  ...request,
  properties: { ...request["properties"], [fsScopeField]: Type.Optional(FsScope) },
});
