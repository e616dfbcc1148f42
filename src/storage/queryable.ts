/** Anything that can run a query: our pool, or the caller's own client inside the caller's own transaction. */
export interface Queryable {
  query(query: { text: string; values: unknown[]; rowMode: 'array' }): Promise<{ rows: unknown[] }>
}
