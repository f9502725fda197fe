"""Bytes as text: the encoding they are in, or why it cannot be told.

UTF-8 and byte order marks are certain. The older encodings of Chinese, Japanese and Korean are told apart by what a
reading says: the right one is full of the commonest characters of its language, a wrong one has hardly any.
"""

from __future__ import annotations

import codecs
import contextlib
import re
from dataclasses import dataclass
from itertools import islice

from charset_normalizer import from_bytes

from ..core.checks import check_str

_MARKED = (  # the longer first, since UTF-32's mark begins with UTF-16's
    (codecs.BOM_UTF8, "UTF-8"),
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
# About half of the characters of any text in these languages are among these.
_SIMPLIFIED = (
    "的一是了不在有人我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种"
    "事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公"
    "此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特"
    "代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数"
    "安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达"
    "光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运请费"
    "须单内写户申批准员付款购票销餐旅宿交附章条项册范核财薪休假勤岗训奖审负责部门办室例注版号页图表字句段词姓址网站技术研究"
)
_TRADITIONAL = (
    "這個們來為國說時會對們當現過發後裡種經麼學動還進樣從開實軍無與長機關點業將兩間問應戰頭體產話內給門東聲員解論處義幾認"
    "條係氣題爾變總電數報結務場計資統區隊決馬書聽達難權設類據邊張該規萬覺術領確傳師觀識帶導爭運請費須單寫沒圖期館讀者可以"
    "系統壞了怎麼辦週兩臺灣腦軟"
)
_KANJI = "日一人年大本中出時行見月分前生間上東今入学会社気語国者的用方事合同場員部業表対要定金高手以度"
_HANGUL = (
    "이다에의는로하을가고지서한은기으년대사시를리도인스일과해자어전부정그아들나라수있제여만보주것니되장구상우조와비원었면"
    "공적성관동위경개화할실계문중까모세소영국거업오행생신간합습유무학안물방용작호발회연내때입요터당진연출까번마않없저직"
)
_FULL_WIDTH = re.compile("[\u2013-\u2026\u3000-\u3003\u3008-\u3011\u3014-\u301f\uff01-\uff0f\uff1a-\uff20·×￥]")
_ALPHABETS = ("cp1251", "koi8_r", "iso8859_5", "mac_cyrillic", "cp1253", "cp1252", "cp1250", "mac_roman")
_ANY, _FOREIGN = re.compile("[^\0]"), re.compile("[^\0-\x7f]")
_WORD = re.compile("[a-zA-Z0-9]")
_HAN = re.compile("[\u4e00-\u9fff]")
_ODD = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ud800-\uf8ff\ufffd-\uffff]")
_CHINESE, _KOREAN = frozenset(_SIMPLIFIED + _TRADITIONAL), frozenset(_HANGUL)
_JAPANESE = frozenset(_KANJI + "".join(map(chr, [*range(0x3041, 0x3097), *range(0x30A1, 0x30FB), 0x30FC])))
_LETTERS_OF_ALL = frozenset(map(chr, [*range(0x180), *range(0x370, 0x530)])) | _CHINESE | _JAPANESE | _KOREAN
_COMMON = {  # in the order in which they are tried
    "gb18030": _CHINESE,
    "big5": _CHINESE,
    "shift_jis": _JAPANESE,
    "euc_jp": _JAPANESE,
    "euc_kr": _KOREAN,
    "utf-16-le": _LETTERS_OF_ALL,
    "utf-16-be": _LETTERS_OF_ALL,
}
# What writes these encodings has added characters to the standard that names them, as web browsers know.
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "big5": "cp950", "shift_jis": "cp932", "euc_kr": "cp949"}
_ENOUGH = 0.25  # the share of common characters that a right reading has at least, 0.4 to 0.7 in running text
_CLEAR = 2  # how many times the share of the next best reading
_SAMPLE = 6000  # characters that are looked at
_LETTERS = 6  # fewer say too little about another encoding than Chinese
# A reading as GB18030 in which nothing is common is judged by the mess it makes: 0.07 at most of a Chinese line.
_MOST_MESS = 0.1


@dataclass(frozen=True, slots=True)
class _Reading:
    encoding: str
    text: str
    share: float  # of its letters that are common
    letters: int


def decoded(data: bytes, name: str, encoding: str | None = None) -> str:
    """Turn the bytes of a file into text, without its byte order mark; line ends stay.

    Without `encoding`, UTF-8 and UTF-16 (with a mark or without) are told for certain, GB18030, Big5, Shift-JIS, EUC-JP
    and EUC-KR where the reading leaves no doubt. ValueError, with the name of the file, for a binary file, for bytes
    that `encoding` does not allow, for an unknown encoding, and where it cannot be told; TypeError for an encoding that
    is no text.
    """
    if encoding is not None:
        check_str("encoding", encoding)
        return _as_told(data, name, encoding)
    for mark, marked in _MARKED:
        if data.startswith(mark):
            return _as_told(data, name, marked)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        reason = f"{error.reason} at byte {error.start}"
        if _is_nearly_utf8(data):
            raise ValueError(f"{name!r} is not UTF-8 text: {reason}, though most of it is: save it again") from error
        return _recognised(data, name, reason)
    if "\x1b$" in text:  # seven bits that switch between alphabets, as in old mails
        return _switched(data, name)
    if b"\0" in data:
        return _recognised(data, name, "it holds zero bytes")
    if _is_binary(data):
        raise ValueError(f"{name!r} is not UTF-8 text: it looks like a binary file")
    return text


def _as_told(data: bytes, name: str, encoding: str) -> str:
    try:
        known = codecs.lookup(encoding).name.replace("-", "_")
        text = data.decode(_WIDER.get(known, encoding)).removeprefix("\ufeff")
    except LookupError as error:
        raise ValueError(f"there is no encoding {encoding!r} to read {name!r} in") from error
    except ValueError as error:
        reason = f"{error.reason} at byte {error.start}" if isinstance(error, UnicodeDecodeError) else error
        raise ValueError(f"{name!r} is not {encoding} text: {reason}") from error
    if "\0" in text:
        raise ValueError(f"{name!r} is not {encoding} text: it is binary")
    return text


def _switched(data: bytes, name: str) -> str:
    for encoding in ("iso2022_jp", "iso2022_kr"):
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(encoding)
    raise ValueError(f"{name!r} is not UTF-8 text: it switches between alphabets as ISO-2022 does; save it as UTF-8")


def _recognised(data: bytes, name: str, reason: str) -> str:
    """The text of bytes that are no UTF-8; ValueError where it is in doubt."""
    readings = sorted(filter(None, (_read(data, one) for one in _COMMON)), key=lambda one: -one.share)
    for reading in readings:
        other = max((one.share for one in readings if one.text != reading.text), default=0)
        if reading.share >= max(_ENOUGH, _CLEAR * other) and _says_enough(reading, data):
            return reading.text
        if reading.encoding == "gb18030" and reading.share >= other and _is_chinese(reading, data):
            return reading.text
    likely = [one.encoding for one in readings if one.share >= _ENOUGH / 2]
    if not likely and _is_binary(data):
        raise ValueError(f"{name!r} is not UTF-8 text: {reason}; it looks like a binary file, not like text")
    choices = " or ".join(f'encoding="{one}"' for one in likely or ["cp1252", "gb18030"])
    raise ValueError(
        f"{name!r} is not UTF-8 text: {reason}, and its encoding cannot be told for certain: "
        f"say it, as in {choices}, or save the file as UTF-8"
    )


def _read(data: bytes, encoding: str) -> _Reading | None:
    """What bytes say in an encoding; None where it does not allow them, and where nothing is to be judged."""
    try:
        text = data.decode(_WIDER.get(encoding, encoding))
    except UnicodeDecodeError:
        return None
    if _ODD.search(text):
        return None
    tellers = _ANY if encoding.startswith("utf-16") else _FOREIGN  # in UTF-16 plain letters too are a sign
    letters = [one for found in islice(tellers.finditer(text), _SAMPLE) if not _FULL_WIDTH.match(one := found[0])]
    if not letters:
        return None
    known = _COMMON[encoding]
    return _Reading(encoding, text, sum(one in known for one in letters) / len(letters), len(letters))


def _says_enough(reading: _Reading, data: bytes) -> bool:
    if reading.letters >= _LETTERS or reading.encoding == "gb18030":
        return True
    return b"\0" in data and _WORD.search(reading.text) is not None


def _is_chinese(reading: _Reading, data: bytes) -> bool:
    """Tell whether a reading as GB18030 may be right although no share of common characters speaks for it."""
    if reading.share < _ENOUGH and reading.letters > 40:
        return False
    if reading.share < _ENOUGH and _HAN.search(reading.text) and _is_cased(data):
        return False
    judged = _FULL_WIDTH.sub(" ", reading.text).encode("gb18030")
    return from_bytes(judged, cp_isolation=["gb18030"], threshold=_MOST_MESS).best() is not None


def _is_cased(data: bytes) -> bool:
    """Tell whether bytes are words of an alphabet, in one case or capitalised, in an encoding of one byte a letter."""
    for encoding in _ALPHABETS:
        words = [one for one in re.split(r"[\s\d!-@\[-`{-~«»]+", data.decode(encoding, "replace")) if one]
        if words and all(one.isalpha() and (one.islower() or one.isupper() or one.istitle()) for one in words):
            return True
    return False


def _is_nearly_utf8(data: bytes) -> bool:
    """Tell whether bytes are UTF-8 that was damaged or cut off: three quarters of what is no plain letter."""
    sound = data.decode("utf-8", "ignore").encode()
    return 4 * sum(byte > 127 for byte in sound) > 3 * sum(byte > 127 for byte in data)


def _is_binary(data: bytes) -> bool:
    return b"\0" in data or 20 * len(re.findall(rb"[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]", data)) > len(data)
