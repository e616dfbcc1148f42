-- Cancels these runs, as a step of an operation, which the audit log names. Returns how many ended or were asked to end.
create or replace function holdfast_internal.cancel_runs(run_ids bigint[], why text) returns integer
language plpgsql as $$
declare
  chosen bigint;
  cancelled integer := 0;
begin
  foreach chosen in array run_ids loop
    if (select outcome from holdfast_internal.cancel_owed_run(chosen, why)) is not null then
      cancelled := cancelled + 1;
    end if;
  end loop;
  return cancelled;
end $$;
