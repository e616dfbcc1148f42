-- Whoever changes it, also by hand: the nodes shall hear of it.
create or replace function holdfast_internal.note_change() returns trigger
language plpgsql as $$
begin
  new.changed_xid := pg_current_xact_id();
  return new;
end $$;
