create or replace function holdfast_internal.set_queue_limits(queue_name text, new_concurrency integer, new_rate double precision, actor text default current_user)
returns integer
language plpgsql as $$
declare
  lane integer := holdfast_internal.ensure_queue(queue_name);
begin
  update holdfast_internal.queues set concurrency = new_concurrency, rate_per_second = new_rate, updated_at = clock_timestamp() where id = lane;
  perform holdfast_internal.audit(actor, 'queue.updated', 'queue:' || queue_name,
                         jsonb_build_object('name', queue_name, 'concurrency', new_concurrency, 'ratePerSecond', new_rate));
  perform holdfast_internal.notify('holdfast_queue_' || lane, '');
  return lane;
end $$;
