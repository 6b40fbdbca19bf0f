type Message = { readonly event: string; readonly data: unknown };

/** The named messages of a stream of server-sent events, as they arrive. Ends after a silence, comments included. */
export async function* messagesIn(
  body: ReadableStream<Uint8Array>,
  silenceMaxMs: number,
): AsyncGenerator<Message> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  for (;;) {
    // A stream that was aborted cannot be canceled as well: without the end of the timer, that would be an error later.
    const silence = setTimeout(() => void reader.cancel(), silenceMaxMs);
    const { value, done } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const messages = text.split("\n\n");
    text = messages.pop() ?? "";
    for (const message of messages) {
      const event = /^event: (.*)$/m.exec(message)?.[1];
      const data = /^data: (.*)$/m.exec(message)?.[1];
      if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) };
    }
  }
}
