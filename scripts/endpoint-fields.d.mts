export declare function endpointFields(document: unknown): unknown
