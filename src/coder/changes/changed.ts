import { type Static, Type } from "@sinclair/typebox";
import { refuse } from "../../base/errors.ts";
import { Redelivered, UInt32 } from "../../base/schema/fragments.ts";
import { Mismatch, validate } from "../../base/schema/validate.ts";
import type { TriggerDefinition, TriggerType } from "../../calls/contract/trigger.ts";
import { Subscription } from "../../filesystem/feed/subscription.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { inAnyState, plainPath } from "../checkpoints/recorded-paths.ts";
import type { CoderServices } from "../define.ts";
import { parseGlobFields } from "../fields/request-globs.ts";
import { IgnoredPaths } from "./ignored.ts";
import { parsePosition, renderPosition, unknownPosition } from "./position.ts";
import { selects } from "./selection.ts";
import { changeFields, describeChange, KindOfChange } from "./wire.ts";

const Globs = (description: string) => Type.Array(Type.String(), { default: [], description });

const config = Type.Object(
  {
    coalesce_ms: UInt32({
      default: 200,
      description:
        "Milliseconds between events, 50 to 60000; modifications of one file in between are one event.",
    }),
    exclude_globs: Globs("Paths that are not reported."),
    include_globs: Globs("Files that are reported, where not all are."),
    include_ignored: Type.Optional(
      Type.Boolean({
        description:
          "Also changes of paths that an ignore file names. Default: true; in the profile `agent` false.",
      }),
    ),
    kinds: Type.Optional(Type.Array(KindOfChange, { description: "Only these." })),
    path: Type.String({ default: ".", description: "Only changes of this path or below it." }),
    since: Type.Optional(
      Type.String({ description: "`next` of coder::changes, or `epoch:seq` of an event. Default: now." }),
    ),
  },
  { title: "ChangedConfig" },
);

/** `coder::changed`: calls a function for each change of the tree (coder §25). */
export const changed: TriggerDefinition = {
  id: "coder::changed",
  since: "0.4.0",
  description:
    "Calls the function for each change of the tree, by calls and by other programs, in order. An event with `overflow` says that changes before it were lost.",
  config,
  event: Type.Object({ ...changeFields, redelivered: Type.Optional(Redelivered) }, { title: "ChangedEvent" }),
};

type Services = Pick<CoderServices, "feed" | "jail" | "ignoreFiles" | "profile">;

/** Returns the trigger type for the feed of a worker. */
export const changedOver = (services: Services): TriggerType => ({
  definition: changed,
  async open(value, fire, resumed) {
    const { feed, jail } = services;
    const {
      since: configured,
      path,
      kinds,
      coalesce_ms: every,
      include_ignored,
      ...globs
    } = parseConfig(value);
    const includesIgnored = include_ignored ?? services.profile["changed.include_ignored"];
    requirePlace(path, jail);
    const since = resumed ?? configured;
    const selection = {
      path: plainPath(path, jail),
      kinds: kinds && new Set<string>(kinds),
      ...parseGlobFields(globs, services.profile),
    };
    const newest = await feed.newest();
    const from = since === undefined ? newest : parsePosition(since, feed);
    const subscription = new Subscription({
      feed,
      from: from ?? newest,
      hasGap: from === undefined,
      every: Math.min(Math.max(every, 50), 60_000),
      selects: (change) => selects(selection, change),
      deliver: async (change) => {
        const ignored = new IgnoredPaths(services);
        const isIgnored = ignored.has(change.path, change.isFolder);
        const { from = change.path } = change;
        if (isIgnored && !includesIgnored && ignored.has(from, change.isFolder)) return "delivered";
        const hasAuthors = services.profile.authors;
        return fire(
          describeChange(change, { epoch: feed.epoch, isIgnored, hasRoots: jail.hasTop, hasAuthors }),
        );
      },
    });
    return () => {
      const seq = subscription.end();
      return seq === undefined ? unknownPosition : renderPosition(feed.epoch, seq);
    };
  },
});

/**
 * Throws the refusal of a path that leads out. A missing path may be created later, and a denied one looks
 * the same.
 */
function requirePlace(path: string, jail: Pick<Jail, "admit">): void {
  jail.admit(path, inAnyState)[Symbol.dispose]();
}

function parseConfig(value: unknown): Static<typeof config> {
  try {
    return validate(config, value, { unknownKeys: "refuse" });
  } catch (error) {
    if (error instanceof Mismatch) throw refuse.badPayload(error.field, error.problem);
    throw error;
  }
}
