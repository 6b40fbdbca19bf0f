import json, sqlite3


def store(body: bytes) -> None:
    """Stores an event once, under its id. When it returns, the event is on the disk: process it afterwards."""
    database = sqlite3.connect("inbox.db")
    with database:
        database.execute("create table if not exists inbox (id text primary key, body text not null)")
        database.execute("insert or ignore into inbox values (?, ?)", (json.loads(body)["id"], body.decode()))
    database.close()
