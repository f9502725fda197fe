"""Cells that are run in a real kernel, by a program alone or as in front of a reader."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient


class _Watched(NotebookClient):
    """Runs cells as a page does: there is somebody who can be asked for input."""

    async def async_start_new_kernel_client(self):
        client = await super().async_start_new_kernel_client()
        client.allow_stdin = True
        return client


def run_cells(*sources: str, watched: bool = False, kernel: KernelManager | None = None) -> nbformat.NotebookNode:
    """A notebook of these cells, run in a kernel of its own or in this one."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    client = (_Watched if watched else NotebookClient)(notebook, km=kernel, timeout=120, kernel_name="python3")
    client.execute()
    if kernel:
        client.kc.stop_channels()
    return notebook


@contextlib.contextmanager
def one_kernel() -> Iterator[Callable[..., nbformat.NotebookNode]]:
    """Run cells as `run_cells` does, all in one kernel, since starting one takes seconds."""
    kernel = KernelManager(kernel_name="python3")
    kernel.start_kernel()
    try:
        yield lambda *sources, **options: run_cells(*sources, kernel=kernel, **options)
    finally:
        kernel.shutdown_kernel(now=True)
