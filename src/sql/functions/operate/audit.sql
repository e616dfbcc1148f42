-- Records who did what to what. A transaction may give a reason: `set local holdfast.reason = '…'` is stored with each of its entries.
create or replace function holdfast_internal.audit(who text, what text, about text, more jsonb default '{}') returns void
language sql as $$
  insert into holdfast_internal.audit_log (actor, action, subject, detail)
  select holdfast_internal.actor_of(who), what, about,
         more || case when given.reason <> '' then jsonb_build_object('reason', left(given.reason, 2000)) else '{}' end
  from (select coalesce(current_setting('holdfast.reason', true), '') as reason) as given
$$;
