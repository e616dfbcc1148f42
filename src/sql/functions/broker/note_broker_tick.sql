-- A tick was received: all messages that were published before it have been handled. The commit doesn't wait for the disk, because after a crash of
-- the server the next tick stores a later time.
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
