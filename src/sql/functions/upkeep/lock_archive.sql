-- Locks messages and attempts, for a transaction that drops partitions of both. All other transactions lock a table before its partitions and may
-- lock one of the tables before the other, or before the lock of retirement: so this function waits for one lock at a time, and only while it holds
-- none of them. Locking a partition and then its table, as the stepwise removal does, deadlocks with every reader in between.
create or replace function holdfast_internal.lock_archive() returns void
language plpgsql as $$
declare
  wanted text[] := '{messages,attempts,retire}';
  waits boolean;
  max_tries constant integer := 100;
begin
  for try in 1 .. max_tries loop
    begin
      for step in 1 .. 3 loop
        waits := step = 1;
        if wanted[step] <> 'retire' then
          execute format('lock table only holdfast_internal.%I in access exclusive mode', wanted[step]) || case when waits then '' else ' nowait' end;
        elsif waits then
          perform pg_advisory_xact_lock(hashtext('holdfast.retire'));
        elsif not pg_try_advisory_xact_lock(hashtext('holdfast.retire')) then
          raise lock_not_available;
        end if;
      end loop;
      return;
    exception when lock_not_available then
      -- The caller's own lock_timeout has passed.
      if waits or try = max_tries then
        raise;
      end if;
    end;
    -- Next time it waits for another lock first.
    wanted := wanted[2:3] || wanted[1];
  end loop;
end $$;
