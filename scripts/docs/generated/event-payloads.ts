import { sampleEvent } from "../../../src/orders/sample-event.ts";
import { readConfig } from "../../../src/platform/config.ts";
import { toTypeId } from "../../../src/platform/ids.ts";
import { DEFAULT_EVENT_TYPES, EVENT_MEANINGS, EVENT_TYPES } from "../../../src/webhooks/events/event.ts";

const NOW = new Date("2026-03-02T09:00:00.000Z");

/**
 * The payload of each event, made as the samples that a ping sends (docs/design/event-feed.md, "Samples"), with ids that do not
 * change.
 */
export function eventPayloads(): string {
  const { testOrderLifetimeMs: lifetimeMs } = readConfig({});
  const parts = EVENT_TYPES.map((type) => {
    const newId = countedIds();
    const connection = { merchantId: newId(), connectionId: newId() };
    const { sequence, data } = sampleEvent(type, { connection, newId, now: NOW, lifetimeMs });
    const body = {
      id: toTypeId("evt", newId()),
      type,
      timestamp: NOW.toISOString(),
      testMode: true,
      connectionId: toTypeId("con", connection.connectionId),
      sequence,
      data,
    };
    const received = (DEFAULT_EVENT_TYPES as readonly string[]).includes(type)
      ? ""
      : " Endpoints must name it.";
    return `### \`${type}\`\n\n${EVENT_MEANINGS[type]}${received}\n\n\`\`\`json\n${JSON.stringify(body, null, 2)}\n\`\`\`\n`;
  });
  return `\n## Payloads\n\nThese are what \`ping\` sends as a sample of each type.\n\n${parts.join("\n")}`;
}

/** UUIDs of version 7 that count up, so that a build changes nothing that has not changed. */
function countedIds(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `019cae3b-5000-7000-8000-${String(count).padStart(12, "0")}`;
  };
}
