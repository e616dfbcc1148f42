create or replace trigger endpoints_note_change before update on holdfast_internal.endpoints for each row execute function holdfast_internal.note_change();
