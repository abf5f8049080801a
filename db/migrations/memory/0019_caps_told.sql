-- Whoever asks for a memory to be forgotten is told when the caps leave nothing: counts of the namespaces in sight.
CREATE POLICY tenant ON living FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON let_go FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
