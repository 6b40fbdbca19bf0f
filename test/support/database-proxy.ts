import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { Transform } from "node:stream";

/** A way to a database that a test can take away and give back. */
export type DatabaseProxy = {
  /** The database's address by way of the proxy. */
  readonly url: string;
  /** Breaks every connection and takes no new one, as when the database's machine is gone. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  /** Passes on what is sent to the database, and nothing that it responds. `cut` ends it. */
  loseResponses(): void;
  /** Keeps every connection and passes nothing on, as when the database's machine hangs. `cut` ends it. */
  hang(): void;
  close(): Promise<void>;
};

/** What a test makes of the data on its way. Null breaks the connection. */
type Change = (data: Buffer) => Buffer | null;

export async function startDatabaseProxy(
  databaseUrl: string,
  changes: { readonly toDatabase?: Change; readonly toClient?: Change } = {},
): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const upstreams = new Set<Socket>();
  let server: Server | null = null;
  let hangs = false;
  const port = await open(0);
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(port);

  async function open(onPort: number): Promise<number> {
    server = createServer((client) => {
      if (hangs) {
        sockets.add(client.on("error", () => undefined));
        return;
      }
      const upstream = connect({ host: target.hostname, port: Number(target.port) });
      upstreams.add(upstream.on("close", () => upstreams.delete(upstream)));
      for (const [from, to, change] of [
        [client, upstream, changes.toDatabase],
        [upstream, client, changes.toClient],
      ] as const) {
        sockets.add(from);
        if (change === undefined) from.pipe(to);
        else from.pipe(changedBy(change, () => from.destroy())).pipe(to);
        from.on("error", () => to.destroy());
        from.on("close", () => {
          sockets.delete(from);
          to.destroy();
        });
      }
    });
    server.listen(onPort, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port; // It listens on a port, so this is no pipe's name.
  }

  async function cut(): Promise<void> {
    if (server === null) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
    server = null;
    hangs = false;
  }

  function loseResponses(): void {
    for (const upstream of upstreams) upstream.unpipe().resume();
  }

  function hang(): void {
    hangs = true;
    for (const socket of sockets) socket.unpipe().pause();
  }

  return {
    url: url.href,
    cut,
    loseResponses,
    hang,
    restore: async () => {
      await open(port);
    },
    close: cut,
  };
}

const changedBy = (change: Change, breakOff: () => void): Transform =>
  new Transform({
    transform(data, _encoding, done) {
      const changed = change(data);
      if (changed === null) breakOff();
      done(null, changed);
    },
  });
