create or replace trigger dead_letters_note_change before update on holdfast_internal.dead_letters for each row execute function holdfast_internal.note_change();
