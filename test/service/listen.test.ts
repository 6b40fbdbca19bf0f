import dns, { type LookupAddress } from "node:dns";
import type { AddressInfo } from "node:net";
import fastify from "fastify";
import { expect, it, onTestFinished, vi } from "vitest";
import { listen } from "../../src/service/listen.ts";

const anApp = () => {
  const app = fastify();
  onTestFinished(() => app.close());
  return app;
};

/** All addresses that it is bound to. It listens on ports, not on paths. */
const addressesOf = (app: ReturnType<typeof anApp>) => app.addresses() as AddressInfo[];

it("a listener on localhost is one server, also where that name has several addresses", async () => {
  type Found = (error: null, addresses: LookupAddress[]) => void;
  const twoOfLocalhost = (name: string, _options: unknown, found: Found) => {
    const addresses = name === "localhost" ? ["127.0.0.1", "127.0.0.2"] : [name];
    found(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    );
  };
  // Which addresses a machine gives to this name differs between machines.
  const resolver = vi.spyOn(dns, "lookup").mockImplementation(twoOfLocalhost as never);
  onTestFinished(() => resolver.mockRestore());
  const app = anApp();
  await listen(app, { host: "localhost", port: 0, variable: "PORT" });
  expect(addressesOf(app).map(({ address }) => address)).toEqual(["127.0.0.1"]);
});

it.each(["no-such-name.invalid", "192.0.2.1"])("HOST=%s is rejected in one sentence", async (host) => {
  await expect(listen(anApp(), { host, port: 0, variable: "PORT" })).rejects.toThrow(
    `${host} is not an address of this machine: set HOST to one that is.`,
  );
});

it("a port in use is rejected in one sentence", async () => {
  const first = anApp();
  await first.listen({ host: "127.0.0.1", port: 0 });
  const port = addressesOf(first)[0]?.port ?? 0;
  await expect(listen(anApp(), { host: "127.0.0.1", port, variable: "BACK_OFFICE_PORT" })).rejects.toThrow(
    `Port ${port} is in use by another program: set BACK_OFFICE_PORT to a free port.`,
  );
});
