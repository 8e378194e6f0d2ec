import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureCorpus, workFolder } from "./corpus.ts";

/** Typical lines from the ignore files of many projects. None matches a file of the tree. */
const lines = `
# Logs
logs
*.log
npm-debug.log*
yarn-error.log*
report.[0-9]*.[0-9]*.json
# Builds
node_modules/
jspm_packages/
/dist
/build/
out/**/*.js
!out/keep.js
*.tsbuildinfo
.cache/
.parcel-cache
.next
.nuxt
coverage
*.lcov
.nyc_output
[Bb]in/
[Oo]bj/
*.py[cod]
__pycache__/
*.egg-info/
.venv
target/
**/*.rs.bk
*.o
*.so
*.class
# Editors
.idea/
.vscode/*
!.vscode/settings.json
*.sw?
*~
.DS_Store
Thumbs.db
# Secrets
.env
.env.*
!.env.example
*.local
/config/local.*
docs/_build/
docs/api/**
tmp/
*.bak
*.orig
.terraform/*
`;

const madeFrom = "ignoring tree 1";

/** Returns a copy of the tree S with an ignore file in its root and in each folder of the root. */
export function ensureIgnoringTree(): string {
  const source = ensureCorpus("S");
  const folder = join(workFolder, "ignoring");
  const stamp = `${folder}.made`;
  const version = `${madeFrom} ${readFileSync(`${source}.made`, "utf8")}`;
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === version) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(source, folder, { recursive: true });
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory())
      writeFileSync(join(folder, entry.name, ".gitignore"), "/dist\n*.tmp\n!keep.tmp\n");
  }
  writeFileSync(join(folder, ".gitignore"), lines);
  writeFileSync(stamp, version);
  return folder;
}
