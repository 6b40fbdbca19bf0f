import { expect, onTestFinished } from "vitest";
import { openStream, type TestService } from "./test-service.ts";

type Message = { readonly event: string; readonly data: Record<string, unknown> };

/** An open stream of updates. */
export type Updates = {
  /** The next message that has this name. */
  next(event: string): Promise<Message["data"]>;
  /** All messages until the service ends the stream. */
  rest(): Promise<Message[]>;
  close(): void;
};

/** Opens a stream, and waits until it is ready. Closed with the test. @param headers a token or a cookie */
export async function openUpdates(
  { inject }: Pick<TestService, "inject">,
  headers: Record<string, string>,
): Promise<Updates> {
  const { status, stream } = await openStream({ inject } as never, "/api/updates", headers); // It uses `inject` alone.
  expect(status).toBe(200);
  onTestFinished(() => void stream.destroy());
  const messages = messagesOf(stream.setEncoding("utf8"));
  const next: Updates["next"] = async (event) => {
    for (;;) {
      const { value, done } = await messages.next();
      if (done) throw new Error(`The stream ended before a message "${event}".`);
      if (value.event === event) return value.data;
    }
  };
  await next("ready");
  return {
    next,
    async rest() {
      const rest: Message[] = [];
      for await (const message of messages) rest.push(message);
      return rest;
    },
    close: () => void stream.destroy(),
  };
}

async function* messagesOf(stream: AsyncIterable<string>): AsyncGenerator<Message> {
  let text = "";
  for await (const part of stream) {
    text += part;
    const messages = text.split("\n\n");
    text = messages.pop() ?? "";
    for (const message of messages) {
      const event = /^event: (.*)$/m.exec(message)?.[1];
      if (event !== undefined) yield { event, data: JSON.parse(/^data: (.*)$/m.exec(message)?.[1] ?? "{}") };
    }
  }
}
