create or replace function holdfast_internal.check_bound(added bigint) returns void
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  bound bigint := holdfast_internal.setting_integer('max_pending');
  owed bigint;
begin
  if bound > 0 then
    owed := holdfast_internal.owed_overall();
    if owed + added > bound then
      raise exception 'the queue is full: % deliveries are pending, and % more would exceed the limit of %', owed, added, bound
        using errcode = '53400', constraint = 'max_pending', hint = 'Publish again later, with backoff, or raise HOLDFAST_MAX_PENDING.';
    end if;
  end if;
end $$;
