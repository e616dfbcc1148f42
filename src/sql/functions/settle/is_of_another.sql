-- Whether this id belongs to a delivery or dead letter of another lane or message.
-- Indexes: deliveries_pkey, dead_letters_delivery_id_key.
create or replace function holdfast_internal.is_of_another(id bigint, message bigint, lane integer) returns boolean
language plpgsql stable as $$
begin
  return exists (
    select from holdfast_internal.deliveries as owed
    where owed.id = is_of_another.id and (owed.lane_id, owed.message_id) is distinct from (lane, message)
  ) or exists (
    select from holdfast_internal.dead_letters as letter
    where letter.delivery_id = is_of_another.id and (letter.lane_id, letter.message_id) is distinct from (lane, message)
  );
end $$;
