/** A command to paste into a terminal. It may be wider than a phone: then it scrolls, with the keyboard too. */
export function CommandBlock({ children, label = 'Command' }: { children: string; label?: string }) {
  return (
    <pre className="code" tabIndex={0} role="region" aria-label={label}>
      {children}
    </pre>
  )
}
