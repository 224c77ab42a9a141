"""Makes the fonts of reports: of a TrueType font, the letters that reports need, without hints and without glyphs that are made of others.

    pip install fonttools
    python subset.py DejaVuSansCondensed.ttf regular.ttf.gz
    python subset.py DejaVuSansCondensed-Bold.ttf bold.ttf.gz
"""

import gzip
import sys
from io import BytesIO

from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

BLOCKS = [
    (0x0020, 0x007E),  # Basic Latin
    (0x00A0, 0x024F),  # Latin-1 Supplement, Latin Extended-A and -B
    (0x02C6, 0x02DD),  # signs beside letters
    (0x0370, 0x03FF),  # Greek
    (0x0400, 0x052F),  # Cyrillic, with its supplement
    (0x1E00, 0x1EFF),  # Latin Extended Additional
    (0x2010, 0x2027),  # dashes, quotation marks, dots
    (0x2030, 0x205E),
    (0x2070, 0x209C),  # superscripts and subscripts
    (0x20A0, 0x20BF),  # currencies
    (0x2100, 0x214F),  # signs like letters
    (0x2150, 0x215E),  # fractions
    (0x2190, 0x21FF),  # arrows
    (0x2200, 0x22FF),  # mathematics
    (0x2300, 0x2311),
    (0x25A0, 0x25CF),  # shapes
    (0x2600, 0x2605),
    (0x2660, 0x266F),
    (0x26A0, 0x26A1),
    (0x2713, 0x2718),
]

source, target = sys.argv[1:3]
font = TTFont(source)
options = Options(hinting=False, layout_features=[], glyph_names=False, notdef_outline=True, name_IDs=[], legacy_cmap=False)
options.drop_tables += ["GPOS", "GSUB", "GDEF", "kern", "FFTM", "gasp", "MATH"]
subsetter = Subsetter(options)
subsetter.populate(unicodes=[u for first, last in BLOCKS for u in range(first, last + 1)])
subsetter.subset(font)
glyphs = font.getGlyphSet()
for name in font.getGlyphOrder():
    if font["glyf"][name].isComposite():
        pen, flat = DecomposingRecordingPen(glyphs), TTGlyphPen(None)
        glyphs[name].draw(pen)
        pen.replay(flat)
        font["glyf"][name] = flat.glyph()
font.recalcTimestamp = False
out = BytesIO()
font.save(out)
with open(target, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
    packed.write(out.getvalue())
print(target, len(font.getGlyphOrder()), "glyphs,", len(out.getvalue()), "bytes", sorted(font.keys()))
