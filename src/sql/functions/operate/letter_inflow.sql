-- Lanes with open dead letters since an id: how many, and from when to when, among the newest max_letters letters only. Indexes: dead_letters_pkey,
-- endpoints_pkey, queues_pkey.
create or replace function holdfast_internal.letter_inflow(since_id bigint, max_letters integer, max_rows integer)
returns table (endpoint text, queue text, letters bigint, first_at timestamptz, last_at timestamptz, sample_error text)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return query
  with newest as materialized (
    select letter.lane_id, letter.state, letter.created_at, letter.error from holdfast_internal.dead_letters as letter
    where letter.id >= since_id order by letter.id desc limit max_letters
  ), lanes as (
    select newest.lane_id, count(*) as letters, min(newest.created_at) as first_at, max(newest.created_at) as last_at,
           (array_agg(newest.error order by newest.created_at desc))[1] as sample_error
    from newest where newest.state = 'open' group by newest.lane_id order by count(*) desc, newest.lane_id limit max_rows
  )
  select (select known.name from holdfast_internal.endpoints as known where known.id = lanes.lane_id),
         (select line.name from holdfast_internal.queues as line where line.id = lanes.lane_id),
         lanes.letters, lanes.first_at, lanes.last_at, lanes.sample_error
  from lanes order by lanes.letters desc, lanes.lane_id;
end $$;
