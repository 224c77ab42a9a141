package drawing

import "strings"

func set(names string) map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		out[name] = true
	}
	return out
}

// elementNames are the elements of SVG 1.1 and 2 that draw, group or describe.
var elementNames = set(`svg g defs symbol use path rect circle ellipse line polyline polygon text tspan textPath title desc
	linearGradient radialGradient stop clipPath mask pattern marker image switch view`)

// leftOutNames are elements without effect in a page, and those that only embellish.
var leftOutNames = set("metadata filter view cursor font font-face missing-glyph glyph color-profile")

const (
	runs    = "scripts are not allowed in a picture; remove it"
	other   = "other documents are not allowed in a picture; export it with plain text and shapes"
	moves   = "animations are not allowed in a picture, since they can change references; bind a point to the element in place"
	sheet   = "style sheets are not allowed in a picture; export it with presentation attributes or inline styles"
	leads   = "links are not allowed in a picture; remove them, and keep what they hold"
	outside = "nothing is loaded from elsewhere by a picture; remove it"
)

// refusedNames says why, by names in small letters.
var refusedNames = map[string]string{
	"script": runs, "handler": runs, "listener": runs, "foreignobject": other, "iframe": other, "object": other, "embed": other,
	"audio": other, "video": other, "canvas": other, "animate": moves, "animatetransform": moves, "animatemotion": moves, "animatecolor": moves,
	"set": moves, "discard": moves, "style": sheet, "link": sheet, "a": leads, "feimage": outside, "base": outside, "meta": outside,
}

// presentationNames are the properties that are attributes as well (SVG 2, 6.6).
var presentationNames = set(`fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit
	stroke-dasharray stroke-dashoffset opacity color display visibility overflow clip-path clip-rule mask marker marker-start marker-mid marker-end
	stop-color stop-opacity font-family font-size font-style font-weight font-variant font-stretch text-anchor text-decoration letter-spacing
	word-spacing dominant-baseline alignment-baseline baseline-shift writing-mode direction unicode-bidi paint-order vector-effect
	shape-rendering text-rendering image-rendering color-interpolation transform transform-origin white-space`)

// attributeNames are those that are taken over; href, style and event handlers are treated by themselves.
var attributeNames = func() map[string]bool {
	all := set(`id x y x1 y1 x2 y2 cx cy r rx ry fx fy fr dx dy d points width height viewBox preserveAspectRatio pathLength rotate
	textLength lengthAdjust startOffset method spacing side offset gradientUnits gradientTransform spreadMethod patternUnits patternContentUnits
	patternTransform maskUnits maskContentUnits clipPathUnits markerUnits markerWidth markerHeight orient refX refY version role lang`)
	for name := range presentationNames {
		all[name] = true
	}
	return all
}()
