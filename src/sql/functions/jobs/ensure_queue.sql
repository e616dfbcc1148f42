create or replace function holdfast_internal.ensure_queue(queue_name text) returns integer
language plpgsql as $$
declare
  queue_id integer := (select id from holdfast_internal.queues where name = queue_name);
begin
  if queue_id is null then
    insert into holdfast_internal.queues (name) values (queue_name) on conflict (name) do nothing returning id into queue_id;
    if queue_id is null then
      select id into queue_id from holdfast_internal.queues where name = queue_name;
    end if;
  end if;
  return queue_id;
end $$;
