-- A tick has come through: what was published before it has been handled. After a crash of the server the next tick says more: the commit doesn't wait for the disk.
create or replace function holdfast_internal.note_broker_tick(queue text, at_ms double precision) returns void
language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  if queue = 'beats' then
    update holdfast_internal.broker_state set beats_through = greatest(beats_through, to_timestamp(at_ms / 1000));
  else
    update holdfast_internal.broker_state set results_through = greatest(results_through, to_timestamp(at_ms / 1000));
  end if;
end $$;
