-- Whether this id belongs to a run or dead letter of another lane or message. Indexes: runs_pkey, run_bundles_last_id_key, dead_letters_delivery_id_key.
create or replace function holdfast_internal.is_of_another_run(id bigint, message bigint, lane integer) returns boolean
language plpgsql stable as $$
begin
  return exists (
    select from holdfast_internal.runs as run
    where run.id = is_of_another_run.id and (run.lane_id, coalesce(run.message_id, run.id)) is distinct from (lane, message)
  ) or exists (
    select from holdfast_internal.dead_letters as letter
    where letter.delivery_id = is_of_another_run.id and (letter.lane_id, letter.message_id) is distinct from (lane, message)
  ) or exists (select from holdfast_internal.bundle_of(is_of_another_run.id) as bundle where bundle.lane_id <> lane);
end $$;
