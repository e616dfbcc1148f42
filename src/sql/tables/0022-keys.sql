-- Runs of one fair key take turns with those of others. They wait here, in the line of their key, until a claim takes them by name.
alter table holdfast_internal.runs add column fair_key text;
create index runs_fair on holdfast_internal.runs (lane_id, fair_key, priority desc, id)
  where fair_key is not null and due_at = 'infinity' and claim_id is null and not is_aside;
-- The fair key whose turn was the last.
alter table holdfast_internal.queue_cursors add column fair_after text;

-- The next of a concurrency key whose runs are parked: by their numbers, past those of other keys.
create index runs_concurrent_parked on holdfast_internal.runs (concurrency_key, lane_id, id)
  where concurrency_key is not null and due_at = 'infinity' and claim_id is null and not is_aside;

-- Runs that wait aside, or in the line of a fair key, are no stranded ones: the round that looks for those passes them by.
drop index holdfast_internal.runs_parked;
create index runs_parked on holdfast_internal.runs (id) where due_at = 'infinity' and claim_id is null and not is_aside and fair_key is null;
