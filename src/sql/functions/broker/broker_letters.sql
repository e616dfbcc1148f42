-- Open dead letters that the broker sent here, of the newest 10,000 since `since_id`. Index: dead_letters_pkey, backwards.
create or replace function holdfast_internal.broker_letters(since_id bigint) returns bigint
language sql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
  select count(*) from (
    select letter.state, letter.broker_history from holdfast_internal.dead_letters as letter where letter.id > since_id order by letter.id desc limit 10000
  ) as recent where recent.broker_history is not null and recent.state = 'open'
$$;
