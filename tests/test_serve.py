"""`make serve` says where the book is, takes another port when one is taken, and says when nothing is built."""

import re
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

SERVE = Path(__file__).resolve().parents[1] / "_ext" / "serve.py"


def start(folder, port):
    return subprocess.Popen([sys.executable, str(SERVE), str(folder), str(port)], stdout=subprocess.PIPE, text=True)


def test_it_prints_the_address_and_serves_there_even_if_the_port_is_taken(tmp_path):
    (tmp_path / "index.html").write_text("the book")
    (tmp_path / "host.js").write_text("export {}")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = start(tmp_path, port)
        try:
            address = re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())
            assert int(address[1]) != port
            with urllib.request.urlopen(f"{address[0]}/host.js") as answer:
                assert answer.headers["content-type"] == "text/javascript"
            with urllib.request.urlopen(address[0]) as answer:
                assert answer.read() == b"the book"
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()


def test_a_folder_without_a_book_is_said(tmp_path):
    done = subprocess.run([sys.executable, str(SERVE), str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "make site" in done.stderr
