create or replace trigger routes_note_redirect before update of lane_id on holdfast_internal.routes
  for each row when (old.lane_id <> new.lane_id) execute function holdfast_internal.note_redirect();
