-- Site-wide settings; may be updated through this view.
create or replace view holdfast.settings as
select name, value from holdfast_internal.settings;
