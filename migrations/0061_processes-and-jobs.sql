-- The processes of the service that run, and how their jobs do (decision 0145). An operator asks whether workers are
-- alive, and when a job last ran, over all processes. Metrics answer that for one process each, and only where they are
-- gathered.
--
-- They belong to no merchant. Both tables are small: each process writes its rows every ten seconds, and they are deleted
-- when it was not seen for an hour.

create table processes (
  id         uuid        not null,
  roles      text[]      not null,
  version    text        not null,
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
comment on table processes is 'Processes of the service. Each one writes its row every ten seconds. Deleted when it was not seen for an hour.';
comment on column processes.id is 'UUIDv7, made by the process at its start. On the wire it has the prefix proc.';
comment on column processes.roles is 'The value of ROLES of the process.';
comment on column processes.version is 'The version of the program.';
comment on column processes.host is 'The name of the machine, or of the container.';
comment on column processes.pid is 'The number of the process on its machine.';
comment on column processes.started_at is 'When it started.';
comment on column processes.seen_at is 'When it last wrote this row.';
comment on column processes.stopped_at is 'When it stopped. Null while it runs, and if it ended without a stop.';

create table process_jobs (
  process_id      uuid        not null,
  job             text        not null,
  running_since   timestamptz,
  last_started_at timestamptz,
  duration_ms     integer,
  item_count      bigint,
  error           text,
  failure_count   integer     not null,
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
