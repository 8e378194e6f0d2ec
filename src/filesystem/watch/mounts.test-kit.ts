/**
 * A program, started in a namespace where it may mount. It prints how a tree reacts to mounts that come and
 * go below its base.
 */
import { execFileSync } from "node:child_process";
import { TreeFixture, unwatchedIn } from "./watched-tree.test-kit.ts";

if (import.meta.main) {
  using fixture = await new TreeFixture({
    "d/f": "",
    "d/point/g": "",
    "e/f": "",
    "../elsewhere/": null,
  }).build();
  const { tree } = fixture;
  const report: unknown[] = [];
  const next = async (...command: readonly string[]) => {
    execFileSync(command[0]!, command.slice(1));
    const drained = await tree.drain();
    const built = await tree.build();
    report.push([drained, built.isComplete, fixture.paths, unwatchedIn(tree.base)]);
  };
  await next("mount", "-t", "tmpfs", "none", fixture.at("../elsewhere"));
  await next("mount", "-t", "tmpfs", "none", fixture.at("d/point"));
  await next("umount", fixture.at("d/point"));
  await next("mount", "--bind", fixture.at("e"), fixture.at("d/point"));
  await next("umount", fixture.at("d/point"));
  await next("mount", "--bind", fixture.at("../outside/secret.txt"), fixture.at("d/f"));
  await next("umount", fixture.at("d/f"));
  execFileSync("umount", [fixture.at("../elsewhere")]);
  process.stdout.write(JSON.stringify(report));
}
