import { parse } from "yaml";
import { blockOf } from "../support/code-blocks.ts";

const PAGE = "docs/scaling.md";

/** The settings of a cluster, as Patroni reads them. */
export type ClusterSettings = {
  readonly ttl: number;
  readonly loop_wait: number;
  readonly retry_timeout: number;
};

/** What the page about failover advises for Patroni. The rehearsal runs with it. */
export const clusterSettings = (): ClusterSettings => parse(blockOf(PAGE, "yaml patroni")).bootstrap.dcs;

/** What it advises for HAProxy, with the port and the nodes of a machine. */
export function haproxySettings(
  port: number,
  nodes: readonly { readonly name: string; readonly port: number; readonly apiPort: number }[],
): string {
  const kept = blockOf(PAGE, "text haproxy")
    .trimEnd()
    .split("\n")
    .filter((line) => !line.startsWith("  server "))
    .map((line) => line.replace(/^( {2}bind \S+):\d+$/, `$1:${port}`));
  const servers = nodes.map(
    ({ name, port: server, apiPort }) => `  server ${name} 127.0.0.1:${server} check port ${apiPort}`,
  );
  return `${[...kept, ...servers].join("\n")}\n`;
}
