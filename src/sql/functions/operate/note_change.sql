-- Stores the transaction of every change, also of one made manually in SQL: by it nodes find changed endpoints, and bulk actions changed letters.
create or replace function holdfast_internal.note_change() returns trigger
language plpgsql as $$
begin
  new.changed_xid := pg_current_xact_id();
  return new;
end $$;
