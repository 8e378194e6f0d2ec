/**
 * What a client needs to reach a server that requires `token`, in the form of JSON that most of them read; `name` is what
 * they call the server.
 */
export function renderClientConfiguration(name: string, url: string, token: string): string {
  const server = { type: "http", url, headers: { Authorization: `Bearer ${token}` } };
  return `${JSON.stringify({ mcpServers: { [name]: server } }, null, 2)}\n`;
}
