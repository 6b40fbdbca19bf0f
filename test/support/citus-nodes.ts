import { inject } from "vitest";
import { openDatabase } from "../../src/platform/database/database.ts";
import type { TestService } from "./test-service.ts";
import { uuidIn } from "./webhooks.ts";

/** The address of a node as Citus knows it. */
export type CitusNode = { readonly host: string; readonly port: number };

/** The shard of `merchants` that has a merchant, and its node. Shards of other tables move with it. */
export async function placementOfMerchant(
  test: Pick<TestService, "db">,
  merchantId: string,
): Promise<CitusNode & { readonly shardId: bigint }> {
  const [row] = await test.db.query<CitusNode & { shardId: bigint }>({
    name: "test-placement",
    text: `
      select p.shardid as "shardId", n.nodename as host, n.nodeport as port
      from pg_dist_placement p
      join pg_dist_node n on n.groupid = p.groupid
      where p.shardid = get_shard_id_for_distribution_column('merchants', $1::uuid)`,
    values: [uuidIn("mer", merchantId)],
  });
  if (row === undefined) throw new Error("The merchant is on no node.");
  return row;
}

/** Moves the shards with a merchant to another worker. */
export async function moveMerchant(
  test: Pick<TestService, "db" | "context">,
  merchantId: string,
  mode: "block_writes" | "force_logical",
): Promise<void> {
  const { shardId, host, port } = await placementOfMerchant(test, merchantId);
  const url = test.context.config.databaseUrl ?? "";
  const db = openDatabase({
    url,
    connectionsMax: 1,
    statementTimeoutMs: 100_000,
    onIdleError: () => undefined,
  });
  try {
    await db.query({
      name: "test-move-shard",
      text: `
        select citus_move_shard_placement($1, $2, $3, n.nodename, n.nodeport, $4)
        from (select nodename, nodeport from pg_dist_node where shouldhaveshards and nodeport <> $3 limit 1) as n`,
      values: [shardId, host, port, mode],
    });
  } finally {
    await db.close();
  }
}

/** Makes the database of a test unreachable on one node, as if the node were down. Returns what restores it. */
export async function loseNode(test: TestService, { port }: CitusNode): Promise<() => Promise<void>> {
  const name = new URL(test.context.config.databaseUrl ?? "").pathname.slice(1);
  const url = new URL(inject("citusNodes").find((node) => Number(new URL(node).port) === port) ?? "");
  url.pathname = "/postgres";
  const node = openDatabase({ url: url.href, connectionsMax: 1, onIdleError: () => undefined });
  await node.runScript(`alter database ${name} allow_connections false`);
  await node.runScript(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  return async () => {
    await node.runScript(`alter database ${name} allow_connections true`);
    await node.close();
  };
}
