create or replace function holdfast_internal.tell_nodes(channel text, payload text) returns void
language sql as $$
  -- Heartbeats are seconds apart: a notice that is an hour old has been read, or its reader reads everything again.
  delete from holdfast_internal.notices where id in (
    select id from holdfast_internal.notices where at < now() - interval '1 hour' order by id limit 100 for update skip locked
  );
  insert into holdfast_internal.notices (channel, payload) values (channel, payload);
  select holdfast_internal.notify(channel, payload)
$$;
