-- Takes a result out of quarantine. The owner of the lane reads the delivery again if it is still pending.
create or replace function holdfast_internal.release_quarantined(quarantine_id bigint) returns boolean
language plpgsql as $$
declare
  lane integer;
begin
  delete from holdfast_internal.quarantine where id = quarantine_id returning lane_id into lane;
  if not found then
    return false;
  end if;
  perform holdfast_internal.tell_nodes('holdfast_lanes', lane || ' readmit');
  return true;
end $$;
