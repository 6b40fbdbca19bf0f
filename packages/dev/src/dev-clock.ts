/** A time span; the parts are added. */
export type Span = {
  readonly days?: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
};

/** What a move of the clock has led to. */
export type Moved = {
  /** The time of the service after the move. */
  readonly now: Date;
  /**
   * Whether all that became due is done, and its webhooks have been sent. False: a receiver has not responded within ten seconds,
   * and the rest is done while the clock runs on.
   */
  readonly isSettled: boolean;
};

/** The clock of a service for tests. It runs like the machine's, and can be moved forwards. */
export type DevClock = {
  now(): Promise<Date>;
  /** Moves the clock by this span. Resolves when what became due is done. */
  advance(by: Span): Promise<Moved>;
  /** Moves the clock to a time that is still to come. Resolves when what became due is done. */
  advanceTo(time: Date): Promise<Moved>;
};

/** The clock of the service whose address of `dev` this is, also in another process than the one that has started it. */
export function clockAt(dev: string): DevClock {
  const move = async (body: object): Promise<Moved> => {
    const { now, isSettled } = await request(dev, body);
    return { now: new Date(now), isSettled };
  };
  return {
    now: async () => new Date((await request(dev)).now),
    advance: ({ days = 0, hours = 0, minutes = 0, seconds = 0 }) =>
      move({ advanceSeconds: ((days * 24 + hours) * 60 + minutes) * 60 + seconds }),
    advanceTo: (time) => move({ to: time.toISOString() }),
  };
}

async function request(dev: string, body?: object): Promise<{ now: string; isSettled: boolean }> {
  const response = await fetch(`${dev}/dev/clock`, {
    ...(body && {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: the listener of the same package has written it.
  const content: any = await response.json();
  if (response.ok) return content;
  const [error] = content.errors ?? [];
  const reason = error === undefined ? content.detail : `${error.pointer.slice(1)} ${error.detail}`;
  throw new Error(`The clock was not moved: ${reason}`);
}
