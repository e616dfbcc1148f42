-- How many dead letters there are of each kind, so that nobody counts a million of them to show a number. Whoever writes letters appends what
-- changed (letter_count_changes, by triggers on dead_letters), without ever waiting for another writer; one task adds it up (letter_counts).
-- A count is the sum of both.
create table holdfast_internal.letter_counts (
  lane_id integer not null,
  fingerprint text not null,
  state text not null,
  is_settled boolean not null,
  criticality smallint not null,
  letters bigint not null,
  primary key (lane_id, fingerprint, state, is_settled, criticality)
) with (fillfactor = 50);

create table holdfast_internal.letter_count_changes (
  lane_id integer not null,
  fingerprint text not null,
  state text not null,
  is_settled boolean not null,
  criticality smallint not null,
  letters bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
create index letter_count_changes_lane on holdfast_internal.letter_count_changes (lane_id);

-- A part of the table, like a constraint: the counts hold only if every letter ever written since the first count went through it.
-- One row for each kind that a statement changed, however many letters that were.
create function holdfast_internal.count_letters() returns trigger
language plpgsql as $$
begin
  case tg_op
  when 'TRUNCATE' then
    delete from holdfast_internal.letter_counts;
    delete from holdfast_internal.letter_count_changes;
  when 'INSERT' then
    insert into holdfast_internal.letter_count_changes
    select lane_id, fingerprint, state, settled_at is not null, criticality, count(*) from new_letters group by 1, 2, 3, 4, 5;
  when 'DELETE' then
    insert into holdfast_internal.letter_count_changes
    select lane_id, fingerprint, state, settled_at is not null, criticality, -count(*) from old_letters group by 1, 2, 3, 4, 5;
  else
    insert into holdfast_internal.letter_count_changes
    select lane_id, fingerprint, state, is_settled, criticality, sum(letters) from (
      select lane_id, fingerprint, state, settled_at is not null as is_settled, criticality, 1 as letters from new_letters
      union all
      select lane_id, fingerprint, state, settled_at is not null, criticality, -1 from old_letters
    ) as change
    group by 1, 2, 3, 4, 5 having sum(letters) <> 0;
  end case;
  return null;
end $$;
create trigger dead_letters_count_inserted after insert on holdfast_internal.dead_letters
  referencing new table as new_letters for each statement execute function holdfast_internal.count_letters();
create trigger dead_letters_count_updated after update on holdfast_internal.dead_letters
  referencing old table as old_letters new table as new_letters for each statement execute function holdfast_internal.count_letters();
create trigger dead_letters_count_deleted after delete on holdfast_internal.dead_letters
  referencing old table as old_letters for each statement execute function holdfast_internal.count_letters();
create trigger dead_letters_count_truncated after truncate on holdfast_internal.dead_letters
  for each statement execute function holdfast_internal.count_letters();
-- Creating the triggers has locked out writers: nobody is counted twice or not at all.
insert into holdfast_internal.letter_counts
select lane_id, fingerprint, state, settled_at is not null, criticality, count(*)
from holdfast_internal.dead_letters group by 1, 2, 3, 4, 5;

-- What is wrong where: the newest and the oldest letter of a group.
create index dead_letters_group on holdfast_internal.dead_letters (lane_id, fingerprint, state, id);

-- How many rows of runs a queue has, as last counted, and how far the count under way has got: see count_queues.
create table holdfast_internal.queue_depths (
  lane_id integer primary key,
  runs bigint not null,
  counting bigint not null default 0,
  counted_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);

-- Those that need somebody are few, and are asked for first.
create index endpoints_inactive on holdfast_internal.endpoints (name) where state <> 'active';
create index breakers_unwell on holdfast_internal.breakers (lane_id) where state <> 'closed' or held_until is not null or hold_reason is not null;

-- Runs whose message isn't their own: redriven ones. Retention asks for them; whoever enqueues writes no entry.
create index runs_message on holdfast_internal.runs (message_id) where message_id is not null;

create index operations_state on holdfast_internal.operations (state, id);
create index alerts_state on holdfast_internal.alerts (state, id);
