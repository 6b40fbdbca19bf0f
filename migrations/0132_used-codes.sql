-- A one-time code was accepted as often as it was sent while it was valid, for about 90 seconds. RFC 6238, section 5.2: a second use
-- must not be accepted.
alter table person_two_factors add column last_code_step bigint;
comment on column person_two_factors.last_code_step is 'The time step of the last code that was accepted: how many times 30 seconds after 1970 began. Codes of it and of earlier ones are rejected. Null: none was accepted.';
