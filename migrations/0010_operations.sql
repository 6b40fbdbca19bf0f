-- What the service keeps about its own work: who did what, mails to be sent, and the processes that run with their jobs.

-- Who did what, and who read personal data (docs/design/isolation-and-limits.md, "Audit log"). A row is written in the
-- transaction of the change that it records, and never changed. The service deletes rows by their age alone.
--
-- The id is a UUIDv7, so the index on it is the index by time. An entry that belongs to no merchant, such as one about a
-- facility, has the zero UUID as its merchant: the merchant comes first in the primary key of every table of merchants.
create table audit_entries (
  merchant_id   uuid        not null,
  id            uuid        not null,
  connection_id uuid,
  action        text        not null,
  actor_kind    text        not null,
  actor_name    text,
  actor_id      text,
  request_id    text,
  subject_type  text        not null,
  subject_ids   uuid[]      not null,
  details       json        not null,
  created_at    timestamptz not null,
  constraint audit_entries_pkey primary key (merchant_id, id),
  constraint audit_entries_action_length check (char_length(action) between 1 and 100),
  constraint audit_entries_actor_name_length check (char_length(actor_name) <= 255),
  constraint audit_entries_request_id_length check (char_length(request_id) <= 255),
  constraint audit_entries_subject_ids_bounded check (cardinality(subject_ids) <= 500),
  constraint audit_entries_details_bounded check (octet_length(details::text) <= 20000),
  constraint audit_entries_actor_id_length check (char_length(actor_id) <= 100)
);
create index audit_entries_id_idx on audit_entries (id);
create index audit_entries_subject_ids_idx on audit_entries using gin (subject_ids);
comment on table audit_entries is 'Changes through the APIs, and reads of personal data in the back office. Rows are only added, and deleted when they are older than AUDIT_RETENTION_DAYS.';
comment on column audit_entries.merchant_id is 'The zero UUID for an entry that belongs to no merchant.';
comment on column audit_entries.action is 'The operation of the API, such as createKey.';
comment on column audit_entries.actor_name is 'The person, the program, or for a partner the id of its key.';
comment on column audit_entries.actor_id is 'The id on the wire of the token that was used. Null if there was none.';
comment on column audit_entries.subject_type is 'The prefix of the ids on the wire; product for products, whose ids have none.';
comment on column audit_entries.subject_ids is 'What was changed or read. A list that was read has several. Empty for an export of all merchants.';
comment on column audit_entries.details is 'An object of texts, each cut. Never a key, a secret or personal data of a buyer.';

-- Mails to people belong to no merchant and no connection, and have the zero UUID in both columns, as audit entries without a
-- merchant do.
create table outgoing_mails (
  merchant_id   uuid        not null,
  connection_id uuid        not null,
  id            uuid        not null,
  recipient     text        not null,
  subject       text        not null,
  body          text        not null,
  due_at        timestamptz not null,
  attempt_count integer     not null,
  leased_until  timestamptz,
  sent_at       timestamptz,
  failed_at     timestamptz,
  alert_of      uuid,
  constraint outgoing_mails_pkey primary key (merchant_id, id),
  constraint outgoing_mails_ended_once check (sent_at is null or failed_at is null)
) with (fillfactor = 70);
create index outgoing_mails_due_idx on outgoing_mails (connection_id, due_at) where sent_at is null and failed_at is null;
create index outgoing_mails_alerts_idx on outgoing_mails (merchant_id, id) where alert_of is not null;
comment on column outgoing_mails.alert_of is 'The endpoint that names the recipient for warnings. Such mails are counted, because it is not proven whose address it is. Null of all others.';
comment on column outgoing_mails.leased_until is 'End of the lease of the worker that has claimed the mail. A column of its own, so that a claim changes no index.';
comment on table outgoing_mails is 'Mail to merchants and to people of the back office, queued in the transaction that causes it and sent by a worker. The zero UUID as merchant: it is to a person, and its body is emptied when it was sent, because it has a link to sign in with.';

-- The processes of the service that run, and how their jobs do (docs/design/database.md, "Processes report themselves"). An
-- operator asks whether workers are alive, and when a job last ran, over all processes. Metrics answer that for one process
-- each, and only where they are gathered. Both tables are small: each process writes its rows every ten seconds, and they are
-- deleted when it was not seen for an hour.
create table processes (
  id         uuid        not null,
  roles      text[]      not null,
  version    text        not null,
  key_ids    text[]      not null,
  host       text        not null,
  pid        integer     not null,
  started_at timestamptz not null,
  seen_at    timestamptz not null,
  stopped_at timestamptz,
  constraint processes_pkey primary key (id),
  constraint processes_host_length check (char_length(host) <= 255),
  constraint processes_version_length check (char_length(version) <= 100)
);
create index processes_seen_idx on processes (seen_at);
comment on table processes is 'Processes of the service. Each one writes its row every five seconds. Deleted when it was not seen for an hour.';
comment on column processes.id is 'UUIDv7, made by the process at its start. On the wire it has the prefix proc.';
comment on column processes.roles is 'The value of ROLES of the process.';
comment on column processes.version is 'The version of the program.';
comment on column processes.key_ids is 'Ids of the keys that it can decrypt secrets with: first the one that it encrypts with. They reveal nothing about the keys.';
comment on column processes.host is 'The name of the machine, or of the container.';
comment on column processes.pid is 'The number of the process on its machine.';
comment on column processes.started_at is 'When it started.';
comment on column processes.seen_at is 'When it last wrote this row.';
comment on column processes.stopped_at is 'When it stopped. Null while it runs, and if it ended without a stop.';

create table process_jobs (
  process_id      uuid    not null,
  job             text    not null,
  running_since   timestamptz,
  last_started_at timestamptz,
  duration_ms     integer,
  item_count      bigint,
  error           text,
  failure_count   integer not null,
  next_run_at     timestamptz,
  constraint process_jobs_pkey primary key (process_id, job),
  constraint process_jobs_process_fkey foreign key (process_id) references processes (id) on delete cascade,
  constraint process_jobs_job_length check (char_length(job) <= 100),
  constraint process_jobs_error_length check (char_length(error) <= 500),
  constraint process_jobs_counts_positive check (duration_ms >= 0 and item_count >= 0 and failure_count >= 0)
);
comment on table process_jobs is 'The jobs of each process with the role worker, as they were when it was last seen.';
comment on column process_jobs.job is 'The name of the job.';
comment on column process_jobs.running_since is 'When the run started that is in progress. Null: none is.';
comment on column process_jobs.last_started_at is 'When the last run that has ended started. Null: none has ended.';
comment on column process_jobs.duration_ms is 'How long it took.';
comment on column process_jobs.item_count is 'How many items it processed. Null if it failed.';
comment on column process_jobs.error is 'Why it failed. Null if it did not.';
comment on column process_jobs.failure_count is 'How many runs have failed since the last one that did not.';
comment on column process_jobs.next_run_at is 'When the next run starts. Null while one is in progress, and when the process stops.';
