-- A sign-in takes several steps: a proof is compared, better-auth stores the session, and the sign-in is recorded. What ended all
-- sign-ins of the person in between ended no session that was stored afterwards (decision 0210). Processes of the earlier version
-- store sessions that are finished.
alter table people add column sign_in_version integer not null default 0;
comment on column people.sign_in_version is 'Raised when all sign-ins of the person end. One that began with a lower number opens no session.';

alter table person_sessions add column finished boolean not null default true;
comment on column person_sessions.finished is 'Whether the sign-in was finished. Until then the session opens nothing.';
