-- The value of a payload at a path, as text; null if there is none, or none that PostgreSQL can represent as text (a NUL, half a surrogate pair).
create or replace function holdfast_internal.payload_text(body json, path text[]) returns text
language plpgsql immutable as $$
begin
  return body #>> path;
exception when untranslatable_character or invalid_text_representation then
  return null;
end $$;
