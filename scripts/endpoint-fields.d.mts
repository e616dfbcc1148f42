export declare function endpointFields(document: unknown): unknown
export declare function settingFields(document: unknown): unknown
export declare function alertRuleFields(document: unknown): unknown
