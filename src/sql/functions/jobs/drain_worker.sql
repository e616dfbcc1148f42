create or replace function holdfast_internal.drain_worker(worker integer, actor text default current_user) returns boolean
language plpgsql as $$
begin
  update holdfast_internal.workers set state = 'draining' where incarnation = worker and state = 'active';
  if not found then
    return false;
  end if;
  perform holdfast_internal.audit(actor, 'worker.draining', 'worker:' || worker);
  perform holdfast_internal.notify('holdfast_worker_' || worker, '');
  return true;
end $$;
