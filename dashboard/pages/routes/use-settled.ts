import { useEffect, useState } from 'react'

const patienceMs = 400

/** A value that somebody types, once they pause: the server isn't asked at every key. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), patienceMs)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
