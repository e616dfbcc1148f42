-- Installation-wide settings and their values. They change through holdfast.set_setting().
create or replace view holdfast.settings as select name, value from holdfast.describe_settings();
