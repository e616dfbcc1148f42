-- How many open dead letters are of runs that the broker dead-lettered since then, for the first time or again after a redrive; counted up to 10,000.
-- Index: dead_letters_broker_failed, backwards.
create or replace function holdfast_internal.broker_letters(since timestamptz) returns bigint
language sql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
  select count(*) from (
    select letter.state from holdfast_internal.dead_letters as letter where letter.broker_failed_at > since order by letter.broker_failed_at desc limit 10000
  ) as recent where recent.state = 'open'
$$;
