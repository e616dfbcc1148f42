-- What a node or worker has in flight, as it last noted: so that those who recover it know which attempts were cut short. One row each, written a few times a
-- second at most; nobody waits for the disk because of it.
create table holdfast_internal.in_flight (
  incarnation integer primary key,
  ids bigint[] not null,
  started_at timestamptz[] not null,
  noted_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);
