-- The id up to which claims of the queue have passed fresh runs of this priority. Index: queue_cursors_pkey.
create or replace function holdfast_internal.passed_by_claims(lane integer, level integer) returns bigint
language plpgsql stable as $$
begin
  return coalesce((
    select cursor.cursors[level + 1] from holdfast_internal.queue_cursors as cursor where cursor.lane_id = lane order by cursor.seq desc limit 1
  ), 0);
end $$;
