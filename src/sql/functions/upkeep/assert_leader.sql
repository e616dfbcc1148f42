-- Until this transaction ends, no other node can become leader. Raises if another node is the leader.
create or replace function holdfast_internal.assert_leader(me integer, my_term bigint) returns void
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtext('holdfast.leader'), 0);
  if not exists (select from holdfast_internal.leadership where incarnation = me and term = my_term) then
    raise exception 'node % is no longer the leader in term %', me, my_term using errcode = 'HF020';
  end if;
end $$;
