import { isProblem } from "../../platform/wire/problems.ts";
import { andPartner, type BackOfficeRoute, everyone, route } from "../access.ts";

const EXAMPLE = `event: changed
data: {"orders":[{"id":"ord_01m7y7np16fe68bxp4h91tdmdn","connectionId":"con_01m7y7np16fe68bxp4h91tdmdn","merchantId":"mer_01m7y7np16fe68bxp4h91tdmdn"}],"deliveriesOf":["con_01m7y7np16fe68bxp4h91tdmdn"]}

`;

/** What changes, while a page is open. See docs/design/console.md, "Live updates". */
export const updateRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/updates",
    operationId: "watchUpdates",
    admits: andPartner(everyone),
    tag: "Updates",
    summary: "Watch what changes",
    description: [
      "Server-sent events, until the client or the service ends the response. They say that something has changed, so that a page can read it again; they contain ids only, of what the caller sees.",
      "`ready`: the stream is open. After each connection, read again what you show: changes before it are not reported.",
      "`changed`: `orders` names orders that were created or have changed, and `deliveriesOf` connections with new or changed deliveries. At most two messages a second, each with at most 100 of both.",
      "`reload`: more has changed than a message names.",
      "`end`: the service ends the stream. `reason` is `access-changed` (the session or the token has ended, or the grants have changed), `lifetime` (after an hour), `stopping` or `unavailable`. Connect again.",
      "A comment is sent every 15 seconds. A lost message is not repeated: use it to be early, not to be complete.",
    ].join("\n\n"),
    responses: {
      200: {
        description: "The stream.",
        file: { mediaType: "text/event-stream", example: EXAMPLE },
      },
    },
    problems: ["limit-reached"],
    handle: async ({ caller }, { updates }) => {
      const body = await updates.open(caller);
      if (isProblem(body)) return body;
      const headers = {
        "content-type": "text/event-stream; charset=utf-8",
        // A proxy that gathers a response before it passes it on would hold messages back.
        "x-accel-buffering": "no",
        // A connection that stays open after the stream has ended would keep a stopping process from ending.
        connection: "close",
      };
      return { status: 200, body, headers };
    },
  }),
];
