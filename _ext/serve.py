"""Serve the built book on this machine: `python _ext/serve.py FOLDER [PORT]`."""

import functools
import http.server
import sys
from pathlib import Path

TRIES = 50


class _Quiet(http.server.SimpleHTTPRequestHandler):
    # Windows' registry and some minimal systems give modules a type that browsers refuse to run.
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript"}  # noqa: RUF012

    def log_message(self, *_: object) -> None:
        pass


def open_server(folder: Path, port: int) -> http.server.ThreadingHTTPServer:
    """Listen on the first free port from `port` upwards; OSError when 50 in a row are taken."""
    handler = functools.partial(_Quiet, directory=str(folder))
    for candidate in range(port, port + TRIES):
        try:
            return http.server.ThreadingHTTPServer(("127.0.0.1", candidate), handler)
        except OSError:
            continue
    raise OSError(f"ports {port} to {port + TRIES - 1} are all taken: choose another with PORT=")


def main(folder: str, port: str = "8000") -> None:
    """Serve until interrupted."""
    if not (Path(folder) / "index.html").is_file():
        sys.exit(f"{folder} holds no built book: run `make site` first")
    with open_server(Path(folder), int(port)) as server:
        print(f"Small-to-Big Lab is at http://127.0.0.1:{server.server_address[1]} (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main(*sys.argv[1:])
