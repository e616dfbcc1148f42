-- Whether a role was granted this itself; rights through membership in another role don't count.
create or replace function holdfast_internal.is_granted(acl aclitem[], role_name text, privilege text) returns boolean
language sql stable as $$
  select exists (
    select from aclexplode(acl) as entry join pg_roles as granted on granted.oid = entry.grantee
    where granted.rolname = role_name and entry.privilege_type = privilege
  )
$$;
