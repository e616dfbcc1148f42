# receiver.py: WEBHOOK_SECRET=whsec_... PORT=8080 python3 receiver.py
import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
TOLERANCE_SECONDS = 300


def is_authentic(headers, body):
    id, timestamp, signatures = (headers.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not id or not (timestamp or "").isdigit() or not signatures:
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest())
    return any(
        version == "v1" and hmac.compare_digest(given.encode(), expected)
        for version, _, given in (signature.partition(",") for signature in signatures.split(" "))
    )


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))  # the raw bytes
        is_good = is_authentic(self.headers, body)
        if is_good:
            print("received", self.headers["webhook-id"], json.loads(body), flush=True)
        self.send_response(204 if is_good else 400)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 8080))), Receiver)
print("listening", server.server_port, flush=True)
server.serve_forever()
