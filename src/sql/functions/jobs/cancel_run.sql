-- Cancels one run on request. Returns 'cancelled', 'requested' (its handler is signalled), or null if the run has ended.
create or replace function holdfast_internal.cancel_run(run_id bigint, why text default null, actor text default current_user) returns text
language plpgsql as $$
declare
  cancelled record;
begin
  select * into cancelled from holdfast_internal.cancel_owed_run(run_id, why);
  if cancelled.outcome is not null then
    perform holdfast_internal.audit(actor, 'run.cancelled', holdfast.format_id('run', cancelled.cancelled_id),
                           jsonb_build_object('reason', why, 'worker', cancelled.holder));
  end if;
  return cancelled.outcome;
end $$;
