-- Lets a draining worker claim again. False: it isn't draining.
create or replace function holdfast_internal.undrain_worker(worker integer, actor text default current_user) returns boolean
language plpgsql as $$
begin
  update holdfast_internal.workers set state = 'active' where incarnation = worker and state = 'draining';
  if not found then
    return false;
  end if;
  perform holdfast_internal.audit(actor, 'worker.undrained', 'worker:' || worker);
  perform holdfast_internal.notify('holdfast_worker_' || worker, '');
  return true;
end $$;
