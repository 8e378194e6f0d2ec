/**
 * Renders the configuration of a client for a server that requires `token`, as JSON that most clients read.
 * `name` is their name for the server.
 */
export function renderClientConfiguration(name: string, url: string, token: string): string {
  const server = { type: "http", url, headers: { Authorization: `Bearer ${token}` } };
  return `${JSON.stringify({ mcpServers: { [name]: server } }, null, 2)}\n`;
}
