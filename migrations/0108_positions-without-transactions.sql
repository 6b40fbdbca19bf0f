-- Drops the two columns of transaction ids that the feed had before migration 0076. No code names them since then. Each new
-- order and event still stored a value, which took the number of its transaction. The rows that exist keep their values
-- until they are written again, so nothing is rewritten, and the lock is short.

alter table orders drop column last_feed_position;
alter table events drop column feed_position;
