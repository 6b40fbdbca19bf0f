import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limitPipelining, PIPELINED_MAX } from "../../../src/api/http/connections/limit-pipelining.ts";
import { createLog } from "../../../src/platform/log.ts";
import { anOrder } from "../../support/builders.ts";
import { type PartnerListener, startPartnerListener } from "../../support/partner-listener.ts";
import { openConnection, requestText } from "../../support/sockets.ts";

let listener: PartnerListener;
beforeAll(async () => {
  listener = await startPartnerListener();
});
afterAll(() => listener.close());

describe("requests that are sent without waiting for responses", () => {
  it("have their responses in their order, again and again", async () => {
    const newOrder = (externalOrderId: string) =>
      requestText(
        "POST /v1/orders HTTP/1.1",
        listener.authorizedJson(),
        JSON.stringify(anOrder(listener.partner, { externalOrderId })),
      );
    const ids = Array.from({ length: PIPELINED_MAX + 1 }, (_, index) => `in-order-${index}`);
    const connection = await openConnection(listener.url);
    for (const status of [201, 200]) {
      connection.send(Buffer.concat(ids.map(newOrder)));
      for (const id of ids) {
        const answer = await connection.answer();
        expect(answer.status, answer.body).toBe(status);
        expect(JSON.parse(answer.body)).toMatchObject({ externalOrderId: id });
      }
    }
    connection.close();
  });

  it("close the connection if there are more, and others are served", async () => {
    const read = requestText("GET /v1/me HTTP/1.1", listener.authorized());
    const connection = await openConnection(listener.url);
    connection.send(Buffer.concat(Array.from({ length: 500 }, () => read)));
    await connection.closed();
    const next = await openConnection(listener.url);
    next.send(read);
    expect((await next.answer()).status).toBe(200);
    next.close();
  });

  it("are not begun beyond the limit, though they arrive in one packet", async () => {
    let begun = 0;
    const server = createServer(() => {
      begun += 1; // Without a response.
    });
    limitPipelining(server, createLog("silent"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo; // It listens on TCP.
    const connection = await openConnection(`http://127.0.0.1:${port}`);
    connection.send(Buffer.concat(Array.from({ length: 500 }, () => requestText("GET / HTTP/1.1"))));
    await connection.closed();
    server.close();
    expect(begun).toBe(PIPELINED_MAX + 1);
  });
});
