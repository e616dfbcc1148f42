create or replace function holdfast_internal.note_move() returns trigger
language plpgsql as $$
begin
  new.former_queue_ids := array_append(array_remove(old.former_queue_ids, new.queue_id), old.queue_id);
  new.moved_at := clock_timestamp();
  new.moved_by := pg_current_xact_id();
  return new;
end $$;
