-- Called for runs that were returned to the queue: those whose cancellation was requested in the meantime end here.
create or replace function holdfast_internal.cancel_returned(returned bigint[]) returns void
language plpgsql as $$
declare
  asked record;
begin
  for asked in delete from holdfast_internal.run_cancellations where run_id = any (returned) returning run_id, reason loop
    perform holdfast_internal.cancel_run(asked.run_id, asked.reason, 'holdfast');
  end loop;
end $$;
