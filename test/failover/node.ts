import { chown, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type DatabaseProxy, startDatabaseProxy } from "../support/database-proxy.ts";
import { freePort } from "../support/free-port.ts";
import { type Account, end, familyOf, PROGRAMS, type Program, run } from "./programs.ts";
import { clusterSettings } from "./settings.ts";

/** One machine: PostgreSQL and the Patroni that runs it. */
export type Node = {
  readonly name: string;
  /** Where PostgreSQL and Patroni's API listen. */
  readonly port: number;
  readonly apiPort: number;
  /** What the other node reaches of this one, and what this one reaches of etcd, are behind proxies. */
  readonly fromOther: readonly DatabaseProxy[];
  readonly toEtcd: DatabaseProxy;
  start(): void;
  /** Patroni, PostgreSQL and all its processes. */
  processes(): Promise<number[]>;
  postmaster(): Promise<number>;
  stop(): Promise<void>;
};

type NodeOptions = {
  readonly folder: string;
  readonly name: string;
  readonly etcdPort: number;
  readonly account: Account | undefined;
  readonly password: string;
};

export async function createNode({ folder, name, etcdPort, account, password }: NodeOptions): Promise<Node> {
  const home = join(folder, name);
  await mkdir(home, { mode: 0o700 });
  const port = await freePort();
  const apiPort = await freePort();
  const proxyTo = (target: number) => startDatabaseProxy(`http://127.0.0.1:${target}`);
  const [database, api, toEtcd] = [await proxyTo(port), await proxyTo(apiPort), await proxyTo(etcdPort)];
  const address = ({ url }: DatabaseProxy): string => new URL(url).host;
  const config = join(home, "patroni.json");
  const user = (username: string) => ({ username, password });
  const settings = {
    scope: "orders",
    name,
    restapi: { listen: `127.0.0.1:${apiPort}`, connect_address: address(api) },
    etcd3: { hosts: [address(toEtcd)], use_proxies: true },
    // Patroni reads JSON, which is YAML.
    bootstrap: { dcs: clusterSettings(), initdb: ["data-checksums", "no-sync", { encoding: "UTF8" }] },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: address(database),
      data_dir: join(home, "data"),
      bin_dir: dirname(PROGRAMS.postgres),
      pgpass: join(home, "pgpass"),
      authentication: {
        superuser: user("postgres"),
        replication: user("replicator"),
        rewind: user("rewinder"),
      },
      pg_hba: [
        "local all all scram-sha-256",
        "host all all 127.0.0.1/32 scram-sha-256",
        "host replication replicator 127.0.0.1/32 scram-sha-256",
      ],
      parameters: { unix_socket_directories: home, wal_keep_size: "256MB" },
    },
  };
  await writeFile(config, JSON.stringify(settings, null, 2));
  if (account !== undefined) for (const path of [home, config]) await chown(path, account.uid, account.gid);

  let patroni: Program | null = null;
  const postmaster = async (): Promise<number> =>
    Number.parseInt(await readFile(join(home, "data", "postmaster.pid"), "utf8"), 10);
  return {
    name,
    port,
    apiPort,
    fromOther: [database, api],
    toEtcd,
    start() {
      patroni = run(home, "patroni", PROGRAMS.patroni, [config], { account });
    },
    postmaster,
    async processes() {
      const server = await postmaster().catch(() => null);
      return [
        ...(patroni?.child.pid === undefined ? [] : await familyOf(patroni.child.pid)),
        ...(server === null ? [] : await familyOf(server)),
      ];
    },
    async stop() {
      if (patroni !== null) await end(patroni, 20_000);
      for (const proxy of [database, api, toEtcd]) await proxy.close();
    },
  };
}
