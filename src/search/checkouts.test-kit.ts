/**
 * For tests of ignore files: checkouts of real projects, made from the templates that three npm packages
 * start new projects with. Each has the ignore files of its authors, and files like those that its tools and
 * editors create.
 */
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const packages = join(import.meta.dir, "../../node_modules");

/** The projects, by the folder of the package that contains them. */
export const checkouts = {
  "an app for Android and iOS": "@react-native-community/template/template",
  "an app of Create React App": "cra-template/template",
  "sixteen apps of Vite in one repository": "create-vite",
} as const;

/**
 * Returns the entry's name in a project. npm never publishes a `.gitignore`, so packages use another name.
 */
const nameIn = (name: string): string => (name === "gitignore" ? ".gitignore" : name.replace(/^_(?!_)/, "."));

/** Copies the project of a package to the new folder `to`, like the package's own program. */
export function checkOut(folder: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(join(packages, folder), { withFileTypes: true })) {
    const [from, target] = [join(folder, entry.name), join(to, nameIn(entry.name))];
    if (entry.isDirectory()) checkOut(from, target);
    else copyFileSync(join(packages, from), target);
  }
}

/** Paths that tools of these projects write, including those that should be committed. */
const written = {
  "package managers": [
    ...["node_modules/react/index.js", "node_modules/.bin/vite", "node_modules/a/dist/index.js", ".pnp.js"],
    ...[".pnp/a", ".yarn/cache/a.zip", ".yarn/patches/a.patch", ".yarn/releases/yarn.cjs", ".pnp.cjs"],
    ...["npm-debug.log", "npm-debug.log.4052", "yarn-error.log", "yarn-debug.log1", "pnpm-debug.log"],
    ...["Gemfile.lock", "vendor/bundle/ruby/a.gem", "vendor/a.c"],
  ],
  builds: [
    ...["dist/index.html", "dist/assets/index.js", "dist-ssr/entry.js", "build/index.html", "build/a/b/c"],
    ...["coverage/lcov.info", "coverage/lcov-report/index.html", "logs/1.txt", "logs/deep/2.txt", "a.log"],
    ...["main.jsbundle", ".metro-health-check17", "distribution/a", "builds/a", "my-logs/a"],
  ],
  Xcode: [
    ...["Pods/Manifest.lock", "DerivedData/a", "App.ipa", "a.hmap", "a.moved-aside/b", ".xcode.env"],
    ...["me.pbxuser", "default.pbxuser", "default.mode1v3", "me.mode2v3", ".xcode.env.local"],
    ...[
      "App.xcodeproj/xcuserdata/me.xcuserdatad/a.plist",
      "App.xcodeproj/project.xcworkspace/me.xcuserstate",
    ],
    ...[
      "fastlane/report.xml",
      "fastlane/Fastfile",
      "fastlane/screenshots/en/1.png",
      "fastlane/test_output/a",
    ],
  ],
  Gradle: [
    ...[".gradle/8.0/a.lock", "local.properties", "app.iml", "a.hprof", ".cxx/Debug/a.o", ".kotlin/errors/a"],
    ...["release.keystore", "debug.keystore", "app/build/outputs/app.apk", "app/debug.keystore"],
  ],
  editors: [
    ...[".vscode/settings.json", ".vscode/extensions.json", ".idea/workspace.xml", ".DS_Store"],
    ...[".App.tsx.swp", "a.suo", "a.sln", "a.ntvs_analysis.dat", "a.njsproj", "a.sw", "a.swap"],
  ],
  configuration: [
    ...[".env", ".env.local", ".env.development.local", ".env.production.local", ".env.example", "a.local"],
    ...["settings.local/a", ".local"],
  ],
};

/** The paths that the tools write below a folder. */
export const leftBehind: readonly string[] = Object.values(written).flat();

/** Writes `leftBehind` below each of the folders. */
export function leaveBehind(base: string, folders: readonly string[]): void {
  for (const folder of folders)
    for (const path of leftBehind) {
      mkdirSync(join(base, folder, dirname(path)), { recursive: true });
      writeFileSync(join(base, folder, path), "", { flag: "a" });
    }
}

/** Returns all folders below `base`, and `base` itself as ".". */
export function foldersOf(base: string): string[] {
  const entries = readdirSync(base, { recursive: true, withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  return [
    ".",
    ...folders.map(({ name, parentPath }) => join(parentPath, name).slice(base.length + 1)).sort(),
  ];
}
