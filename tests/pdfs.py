"""PDFs by hand, so that a test says where each line stands and how large it is."""

LINE = 14  # points from one line to the next


def pdf(*pages):
    """A PDF of pages, each a text with a line of print for each of its lines, or a list of `at(…)`."""
    count = len(pages)
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {count} /Kids [{' '.join(f'{5 + 2 * n} 0 R' for n in range(count))}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",
    ]
    for n, page in enumerate(pages):
        stream = "\n".join(body(page) if isinstance(page, str) else page)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {6 + 2 * n} 0 R"
            " /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    data, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    tail = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{tail}".encode()


def at(height, text, size=11, bold=False, left=72):
    """A line of print, or a cell of one, at a height above the foot of its page."""
    shown = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /F{1 + bold} {size} Tf {left} {height} Td ({shown}) Tj ET"


def body(text, top=700):
    """The lines of a text, one below the other; an empty line leaves a gap."""
    return [at(top - LINE * n, line) for n, line in enumerate(text.split("\n")) if line]
