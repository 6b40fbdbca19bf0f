import { DatabaseSync } from "node:sqlite";

export type WebhookEvent = {
  id: string;
  type: string;
  sequence: number | null;
  data: { order?: { id: string; status: string } };
};

export type Inbox = ReturnType<typeof openInbox>;

/** Stores events until your program has processed them. Any database will do; this one is a file. */
export function openInbox(path: string) {
  const db = new DatabaseSync(path);
  db.exec(`
    create table if not exists events (id text primary key, body text not null, done boolean not null default false);
    create table if not exists feed (only_row integer primary key check (only_row = 1), cursor text not null)`);
  const insert = db.prepare("insert into events (id, body) values (?, ?) on conflict do nothing");
  const selectNext = db.prepare("select body from events where not done order by rowid limit 1");
  const markDone = db.prepare("update events set done = true where id = ?");
  const selectCursor = db.prepare("select cursor from feed");
  const replaceCursor = db.prepare("insert or replace into feed (only_row, cursor) values (1, ?)");

  return {
    /** False if the event was already stored. The primary key decides, also between concurrent requests. */
    add: (event: WebhookEvent): boolean => insert.run(event.id, JSON.stringify(event)).changes === 1,
    next(): WebhookEvent | null {
      const row = selectNext.get();
      return row === undefined ? null : JSON.parse(String(row["body"]));
    },
    done: (event: WebhookEvent) => markDone.run(event.id),
    cursor(): string | null {
      const row = selectCursor.get();
      return row === undefined ? null : String(row["cursor"]);
    },
    keepCursor: (cursor: string) => replaceCursor.run(cursor),
    close: () => db.close(),
  };
}
