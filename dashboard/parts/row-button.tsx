/** An action of one row of a table. The row's name is for screen readers only: it is visible beside the button. */
export function RowButton({
  text,
  of,
  isDanger = false,
  onPress,
}: {
  readonly text: string
  readonly of: string
  readonly isDanger?: boolean
  readonly onPress: () => void
}) {
  return (
    <button type="button" className={`button ${isDanger ? 'danger' : 'ghost'}`} onClick={onPress}>
      {text}
      <span className="vh"> {of}</span>
    </button>
  )
}
