create or replace function holdfast_internal.audit(who text, what text, about text, more jsonb default '{}') returns void
language sql as $$
  insert into holdfast_internal.audit_log (actor, action, subject, detail) values (holdfast_internal.actor_of(who), what, about, more)
$$;
