-- Waits until no claim of these queues is in progress, and blocks new ones until this transaction has ended. Locks the queues in the order of their
-- ids.
create or replace function holdfast_internal.shut_claims(lanes integer[]) returns void
language plpgsql as $$
declare
  shut integer;
begin
  for shut in select distinct each from unnest(lanes) as each order by each loop
    perform pg_advisory_xact_lock(hashtext('holdfast.claims'), shut);
  end loop;
end $$;
