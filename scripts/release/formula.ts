/** The Homebrew formula of a release. It installs the archive of the coder worker for the machine. */
import { basename } from "node:path";
import { about } from "../../src/base/about.ts";
import type { Artefact } from "./artefact.ts";
import { channels, summary } from "./channels.ts";

/** The machines of Homebrew: its block for the system, its block for the processor, and our target. */
const machines = [
  ["macos", "arm", "aarch64-apple-darwin"],
  ["macos", "intel", "x86_64-apple-darwin"],
  ["linux", "arm", "aarch64-unknown-linux-gnu"],
  ["linux", "intel", "x86_64-unknown-linux-gnu"],
] as const;

/** Renders the formula. Returns `undefined` for a release that lacks an archive for one of the machines. */
export function renderFormula(artefacts: readonly Artefact[]): string | undefined {
  const archives = machines.flatMap(([system, processor, triple]) => {
    const made = artefacts.find(({ worker, target }) => worker === about.name && target.triple === triple);
    return made === undefined ? [] : [{ system, processor, ...made }];
  });
  if (archives.length < machines.length) return undefined;
  const blocks = ["macos", "linux"].map((system) => {
    const own = archives.filter((archive) => archive.system === system);
    return `  on_${system} do\n${own.map(renderArchive).join("")}  end\n`;
  });
  return `# Made by \`npm run release\`.
class Coder < Formula
  desc ${JSON.stringify(summary.split(":")[0])}
  homepage "${channels.repository}"
  version "${about.version}"
  license "Apache-2.0"

${blocks.join("\n")}
  def install
    bin.install "coder"
    generate_completions_from_executable(bin/"coder", "completions")
    (man1/"coder.1").write Utils.safe_popen_read(bin/"coder", "--man")
  end

  test do
    (testpath/"a.txt").write "tea\\n"
    assert_match "a.txt", shell_output("#{bin}/coder call tree --base-path .")
  end
end
`;
}

const renderArchive = ({ processor, archive, digest }: Artefact & { readonly processor: string }): string =>
  `    on_${processor} do
      url "${releaseUrl(basename(archive))}"
      sha256 "${digest}"
    end
`;

/** Returns the address of a file of this release. */
export const releaseUrl = (file: string): string =>
  `${channels.repository}/releases/download/${about.name}/v${about.version}/${file}`;
