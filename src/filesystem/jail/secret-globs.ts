/** The usual names of secrets, which no caller reads unless configured. */
export const secretGlobs: readonly string[] = [
  "**/.env",
  "**/.env.*",
  "**/*.pem",
  "**/*.key",
  "**/secrets/**",
];
