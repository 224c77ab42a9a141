package point

import "strings"

// Pattern selects paths. "*" stands for any run of characters within one segment, "**" as a
// whole segment for any number of segments (also none). A pattern without "*" selects the path
// itself and everything below it. The empty pattern selects everything.
//
//	campus/b1            campus/b1 and all below it
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
	return matchSegments(string(pt), string(p))
}

// Prefix returns the literal whole segments in front of the first wildcard: every selected path
// is this prefix or lies below it. It serves to narrow a search before Match decides.
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

// matchSegments walks pattern and path together. The only place to return to is behind the
// latest "**", so the work is bounded by the product of their lengths.
func matchSegments(pattern, path string) bool {
	retryPattern, retryPath := "", ""
	canRetry := false
	for {
		if pattern == "" && path == "" {
			return true
		}
		seg, restPattern := cutSegment(pattern)
		if seg == "**" {
			if restPattern == "" {
				return true
			}
			pattern = restPattern
			retryPattern, retryPath, canRetry = restPattern, path, true
			continue
		}
		name, restPath := cutSegment(path)
		if pattern != "" && path != "" && matchSegment(seg, name) {
			pattern, path = restPattern, restPath
			continue
		}
		if !canRetry || retryPath == "" {
			return false
		}
		_, retryPath = cutSegment(retryPath)
		pattern, path = retryPattern, retryPath
	}
}

// cutSegment splits off the first segment. The marker byte keeps "a/" (two segments, the second
// empty) apart from "a".
func cutSegment(s string) (first, rest string) {
	s = strings.TrimPrefix(s, "\x00")
	if i := strings.IndexByte(s, '/'); i >= 0 {
		return s[:i], "\x00" + s[i+1:]
	}
	return s, ""
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
