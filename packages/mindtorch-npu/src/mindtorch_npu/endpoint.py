"""Answers Prometheus over HTTP: `python -m mindtorch_npu.endpoint [HOST:]PORT [HISTORY]`."""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mindtorch_npu import readings
from mindtorch_npu.commands_of_devices import metrics_text, remember


def server(address: str, history: str | None = None) -> ThreadingHTTPServer:
    """Return a server at `[HOST:]PORT`, on this host alone where none is named; it serves when told to."""
    host, _, port = address.rpartition(":")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/metrics":
                self.send_error(404)
                return
            devices = readings.read_all()
            remember(devices, history)
            body = metrics_text(devices).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing of every request."""

    return ThreadingHTTPServer((host or "127.0.0.1", int(port)), Handler)


def main(arguments: list[str]) -> None:
    """Serve until interrupted."""
    made = server(*arguments[:2])
    print(f"http://{made.server_address[0]!s}:{made.server_address[1]}/metrics", flush=True)
    try:
        made.serve_forever()
    except KeyboardInterrupt:
        made.server_close()


if __name__ == "__main__":
    main(sys.argv[1:])
