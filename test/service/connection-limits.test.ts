import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { createLog } from "../../src/platform/log.ts";
import { connectionsMax, limitConnections } from "../../src/service/listen.ts";
import { startPartnerListener } from "../support/partner-listener.ts";
import { exchange, openConnection, requestText } from "../support/sockets.ts";

it("silent connections of partners take no more than their part of the open files, and are logged", async () => {
  const lines: string[] = [];
  const log = createLog(
    "warn",
    new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    }),
  );
  const { app, url, close } = await startPartnerListener();
  limitConnections(app.server, 3, log);
  const silent = [await openConnection(url), await openConnection(url), await openConnection(url)];
  for (let count = 0; count < 5; count += 1) expect(await (await openConnection(url)).closed()).toBe("");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ count: 1, max: 3, level: "warn" });

  for (const connection of silent) connection.close();
  const served = async () => {
    const { status } = await exchange(url, requestText("GET /v1/me HTTP/1.1"));
    expect(status).toBe(401);
  };
  await expect.poll(served).toBeUndefined();
  await close();
});

it("the back office keeps a part that partners cannot take", () => {
  expect(connectionsMax("partners", 1_024)).toBe(512);
  expect(connectionsMax("back-office", 1_024)).toBe(102);
  expect(connectionsMax("partners")).toBeGreaterThan(0);
});
