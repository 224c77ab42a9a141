package point

import "strings"

// Pattern selects paths. "*" stands for any run of characters within one segment, "**" as a
// whole segment for any number of segments (also none). A pattern without "*" selects the path
// itself and everything below it. The empty pattern selects everything.
//
//	campus/b1            campus/b1 and everything under it
//	campus/*/ahu*/temp   campus/b1/ahu2/temp, but not campus/b1/floor/ahu2/temp
//	**/temp              every point called temp
type Pattern string

// Match reports whether the pattern selects p.
func (pt Pattern) Match(p Path) bool {
	if pt == "" {
		return true
	}
	if !strings.Contains(string(pt), "*") {
		rest, found := strings.CutPrefix(string(p), string(pt))
		return found && (rest == "" || rest[0] == '/')
	}
	return matchSegments(segmentsOf(pt), segmentsOf(p))
}

// Prefix returns the literal whole segments before the first wildcard: every selected path is at or below
// this prefix. It narrows a search before Match decides.
func (pt Pattern) Prefix() Path {
	star := strings.IndexByte(string(pt), '*')
	if star < 0 {
		return Path(pt)
	}
	if slash := strings.LastIndexByte(string(pt[:star]), '/'); slash >= 0 {
		return Path(pt[:slash])
	}
	return ""
}

// matchSegments walks pattern and path together. It only backtracks to the position after the latest "**", so
// the work is bounded by the product of their lengths.
func matchSegments(pattern, path segments) bool {
	var retryPattern, retryPath segments
	canRetry := false
	for {
		if !pattern.any && !path.any {
			return true
		}
		seg, restPattern := pattern.cut()
		if seg == "**" {
			if !restPattern.any {
				return true
			}
			pattern = restPattern
			retryPattern, retryPath, canRetry = restPattern, path, true
			continue
		}
		name, restPath := path.cut()
		if pattern.any && path.any && matchSegment(seg, name) {
			pattern, path = restPattern, restPath
			continue
		}
		if !canRetry || !retryPath.any {
			return false
		}
		_, retryPath = retryPath.cut()
		pattern, path = retryPattern, retryPath
	}
}

// segments are the rest of a path or a pattern: "a/" are two, the second of which is empty.
type segments struct {
	text string
	any  bool // whether there are any
}

// segmentsOf returns the segments of a text; "" has none.
func segmentsOf[S ~string](s S) segments { return segments{string(s), s != ""} }

// cut splits off the first segment.
func (s segments) cut() (first string, rest segments) {
	if i := strings.IndexByte(s.text, '/'); i >= 0 {
		return s.text[:i], segments{s.text[i+1:], true}
	}
	return s.text, segments{}
}

func matchSegment(pattern, s string) bool {
	p, i := 0, 0
	star, mark := -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
