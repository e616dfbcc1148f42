/** A value after a round trip through JSON: a Date is a text, values without a JSON form are gone. */
export type StoredJson<Value> = Value extends { toJSON(): infer Json }
  ? StoredJson<Json>
  : Value extends undefined | ((...given: never[]) => unknown) | symbol
    ? null
    : Value extends readonly unknown[]
      ? { [Index in keyof Value]: StoredJson<Value[Index]> }
      : Value extends object
        ? {
            [Field in keyof Value]: Exclude<Value[Field], undefined> extends infer Known
              ? StoredJson<Known>
              : never
          }
        : Value
