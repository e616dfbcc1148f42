-- Notifies the nodes of every change, also of one made manually in SQL.
create or replace function holdfast_internal.note_change() returns trigger
language plpgsql as $$
begin
  new.changed_xid := pg_current_xact_id();
  return new;
end $$;
