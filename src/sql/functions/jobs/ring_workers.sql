create or replace function holdfast_internal.ring_workers(lane integer) returns void
language plpgsql as $$
begin
  if exists (select from holdfast_internal.workers where is_asleep and lane = any (lanes)) then
    perform holdfast_internal.notify('holdfast_queue_' || lane, '');
  end if;
end $$;
