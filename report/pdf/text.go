package pdf

import "strings"

// beyond are the characters of WinAnsiEncoding from 0x80 to 0x9f, with a space for none.
const beyond = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž " + " ‘’“”•–—˜™š›œ žŸ"

// encode returns a text in WinAnsiEncoding.
func encode(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteByte(code(r))
	}
	return b.String()
}

func code(r rune) byte {
	switch {
	case r >= ' ' && r < 0x7f, r >= 0xa0 && r <= 0xff:
		return byte(r)
	case r == '\t', r == '\n', r == '\r':
		return ' '
	case r == '−':
		return '-'
	case r == 'μ': // the Greek letter stands for the sign of micro
		return 0xb5
	}
	for i, known := range []rune(beyond) {
		if known == r {
			return byte(0x80 + i)
		}
	}
	return '?'
}

// helvetica returns the widths from the space to the tilde, in thousandths of the size.
func helvetica() [95]float64 {
	return [95]float64{
		278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
		556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
		1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
		667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
		333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
		556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
	}
}

// usual is the width of characters that are not in the table: most of them are letters with accents.
const usual = 556

// bolder is how much wider bold text is; its digits are as wide.
const bolder = 1.06

// TextWidth returns the width of a text in points. Of bold text and of letters with accents it is an estimate.
func TextWidth(f Font, text string) float64 {
	sum, widths := 0.0, helvetica()
	for _, c := range []byte(encode(text)) {
		if c >= ' ' && c <= '~' {
			sum += widths[c-' ']
		} else {
			sum += usual
		}
	}
	if f.Bold {
		sum *= bolder
	}
	return sum * f.Size / 1000
}

// Fit shortens a text at its left until it fits: the end of a path says more than its beginning.
func Fit(f Font, text string, width float64) string {
	if TextWidth(f, text) <= width {
		return text
	}
	runes := []rune(text)
	for len(runes) > 1 && TextWidth(f, "…"+string(runes)) > width {
		runes = runes[1:]
	}
	return "…" + string(runes)
}
