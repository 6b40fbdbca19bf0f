import type { Cluster } from "./cluster.ts";
import type { Node } from "./node.ts";
import { signalAll } from "./programs.ts";

/** Something that happens to the primary, and how it ends. */
export type Fault = {
  readonly name: string;
  /** True if the standby must take over. Otherwise either node may be the primary afterwards. */
  readonly movesPrimary: boolean;
  /** How long it lasts at least, if its effect is not immediate. */
  readonly lastsMs?: number;
  inject(primary: Node, cluster: Cluster): Promise<void>;
  /** Called when orders are placed again. */
  repair(primary: Node, cluster: Cluster): Promise<void>;
};

const nothing = async (): Promise<void> => undefined;

export const FAULTS: readonly Fault[] = [
  {
    name: "kill -9 of the primary's postmaster",
    movesPrimary: false,
    inject: async (primary) => signalAll([await primary.postmaster()], "SIGKILL"),
    repair: nothing,
  },
  {
    name: "kill -9 of the primary's node",
    movesPrimary: true,
    inject: async (primary) => signalAll(await primary.processes(), "SIGKILL"),
    repair: async (primary) => primary.start(),
  },
  {
    name: "planned switchover",
    movesPrimary: true,
    inject: async (primary) => {
      const response = await fetch(`http://127.0.0.1:${primary.apiPort}/switchover`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ leader: primary.name }),
      });
      if (!response.ok) throw new Error(`Patroni rejects the switchover: ${await response.text()}`);
    },
    repair: nothing,
  },
  {
    name: "partition between primary and standby",
    movesPrimary: false,
    lastsMs: 15_000, // Patroni gives the standby up within a few seconds.
    inject: (_, { nodes }) =>
      forEach(
        nodes.flatMap(({ fromOther }) => fromOther),
        (proxy) => proxy.cut(),
      ),
    repair: (_, { nodes }) =>
      forEach(
        nodes.flatMap(({ fromOther }) => fromOther),
        (proxy) => proxy.restore(),
      ),
  },
  {
    name: "primary without standby and etcd",
    movesPrimary: true,
    inject: async ({ toEtcd }, { nodes }) => {
      await toEtcd.cut();
      await forEach(
        nodes.flatMap(({ fromOther }) => fromOther),
        (proxy) => proxy.cut(),
      );
    },
    repair: async ({ toEtcd }, { nodes }) => {
      await toEtcd.restore();
      await forEach(
        nodes.flatMap(({ fromOther }) => fromOther),
        (proxy) => proxy.restore(),
      );
    },
  },
  {
    name: "standby's node stands still", // Commits wait for it, so the outcome of each is unknown.
    movesPrimary: false,
    inject: async (primary, cluster) => signalAll(await standbyOf(primary, cluster).processes(), "SIGSTOP"),
    repair: async (primary, cluster) => signalAll(await standbyOf(primary, cluster).processes(), "SIGCONT"),
  },
  {
    name: "etcd cannot be reached",
    movesPrimary: false,
    lastsMs: 30_000, // Longer than the leader's key.
    inject: (_, { nodes }) => forEach(nodes, ({ toEtcd }) => toEtcd.cut()),
    repair: (_, { nodes }) => forEach(nodes, ({ toEtcd }) => toEtcd.restore()),
  },
  {
    name: "primary's node stands still",
    movesPrimary: true,
    inject: async (primary) => signalAll(await primary.processes(), "SIGSTOP"),
    repair: async (primary) => signalAll(await primary.processes(), "SIGCONT"),
  },
];

const standbyOf = (primary: Node, { nodes }: Cluster): Node =>
  nodes.find((node) => node !== primary) ?? primary;

async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (const item of items) await work(item);
}
