/** By type and field; null: a field without a comment. */
export function readFieldDescriptions(root: string): Record<string, Record<string, string | null>>
export function fieldDescriptionsModule(root: string): string
