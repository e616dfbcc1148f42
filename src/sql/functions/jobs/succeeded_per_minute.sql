-- How many runs of the queue succeed in a minute, estimated from its newest 200 attempts: those of the last minute or, if all 200 ended within it,
-- extrapolated to a minute. It is an estimate because priorities and due times make runs start in another order than that of their ids. Index:
-- attempts_lane.
create or replace function holdfast_internal.succeeded_per_minute(lane integer) returns double precision
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
declare
  max_attempts constant integer := 200;
  min_seconds constant double precision := 1;
begin
  return (
    select count(*) filter (where ended.outcome = 1 and ended.seconds_ago < 60)
      * case when count(*) = max_attempts and max(ended.seconds_ago) < 60 then 60 / greatest(max(ended.seconds_ago), min_seconds) else 1 end
    from (
      select outcome, extract(epoch from now() - started_at) - coalesce(duration_ms, 0) / 1000.0 as seconds_ago
      from holdfast_internal.attempts where lane_id = lane order by lane_id desc, delivery_id desc limit max_attempts
    ) as ended
  );
end $$;
