-- Who changed what, newest last.
create or replace view holdfast.audit_log as
select id, at, actor, action, subject, detail from holdfast_internal.audit_log;
