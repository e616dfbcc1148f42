-- Until this transaction ends, nobody else can become leader. Raises when somebody else is.
create or replace function holdfast_internal.assert_leader(me integer, my_term bigint) returns void
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtext('holdfast.leader'), 0);
  if not exists (select from holdfast_internal.leadership where incarnation = me and term = my_term) then
    raise exception 'node % no longer leads in term %', me, my_term using errcode = 'HF020';
  end if;
end $$;
