create or replace trigger jobs_note_move before update of queue_id on holdfast_internal.jobs
  for each row when (old.queue_id <> new.queue_id) execute function holdfast_internal.note_move();
