"""Runs a command on a terminal of 100 columns and types answers: terminal.py '[["what is waited for", "what is typed"]]' command …"""
import fcntl
import json
import os
import pty
import struct
import sys
import termios

answers = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
unanswered = ""
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:  # How Linux says that the other side has closed it.
        break
    if not data:
        break
    sys.stdout.buffer.write(data)
    sys.stdout.flush()
    unanswered += data.decode(errors="replace")
    if answers and answers[0][0] in unanswered:
        os.write(terminal, answers.pop(0)[1].encode())
        unanswered = ""
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) % 256)
