-- Cancels the pending deliveries and runs of a message. A run that a worker is executing can't be cancelled here.
create or replace function holdfast_internal.end_owed(message bigint, owed bigint[], why text, actor text) returns void
language plpgsql as $$
declare
  run bigint;
begin
  perform holdfast_internal.cancel_owed(owed, why);
  foreach run in array owed loop
    if holdfast_internal.cancel_run(run, why, actor) = 'requested' then
      raise exception 'run % is still running', holdfast.format_id('run', run)
        using errcode = 'HF006', hint = 'Cancel it, and erase its input when it has ended.';
    end if;
  end loop;
end $$;
