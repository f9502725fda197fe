"""Small files of word processors, slides and books, made as their programs make them."""

import zipfile
from io import BytesIO

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
LINKS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
BODY = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def zipped(files):
    held = BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return held.getvalue()


def paragraph(text, style="", bold=False):
    how = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{how}<w:r>{"<w:rPr><w:b/></w:rPr>" if bold else ""}<w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def table(*rows):
    cells = ("".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def docx(*parts):
    """A Word file of paragraphs and tables."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{n}"><w:name w:val="heading {n}"/></w:style>' for n in (1, 2)
    )
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{TYPES}"><Default Extension="xml" ContentType="application/xml"/>'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{BODY}"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{LINKS}"><Relationship Id="r1" Type="{OFFICE}/officeDocument" '
            'Target="word/document.xml"/></Relationships>',
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{LINKS}"><Relationship Id="r1" '
            f'Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>',
            "word/styles.xml": f"<w:styles {W}>{styles}</w:styles>",
            "word/document.xml": f"<w:document {W}><w:body>{''.join(parts)}</w:body></w:document>",
        }
    )


def pptx(*slides):
    """A presentation of slides, each a title and its text."""
    from pptx import Presentation

    shown, held = Presentation(), BytesIO()
    for title, text in slides:
        slide = shown.slides.add_slide(shown.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, text
    shown.save(held)
    return held.getvalue()


def epub(title, *chapters):
    """A book of XHTML chapters."""
    names = [f"c{n}.xhtml" for n in range(len(chapters))]
    items = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in names)
    spine = "".join(f'<itemref idref="{name}"/>' for name in names)
    about = f"<dc:title>{title}</dc:title><dc:creator>A. Writer</dc:creator><dc:description>Of stays.\n\nAnd trips."
    about += "</dc:description><dc:identifier>urn:uuid:4711</dc:identifier>"
    root = '<container><rootfiles><rootfile full-path="book/content.opf"/></rootfiles></container>'
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": root,
            "book/content.opf": f'<package><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{about}</metadata>'
            f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"book/{name}": text for name, text in zip(names, chapters, strict=True)},
        }
    )
