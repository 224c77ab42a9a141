package live

import (
	"slices"
	"strings"

	"voltbus/identity"
	"voltbus/point"
	"voltbus/wire"
)

// mostWithheld bounds the list of what one end of a link withholds.
const mostWithheld = 20

// Withheld is a subject that the upper end of a link wants but does not get, or only in part, because a
// descendant does not allow it.
type Withheld struct {
	Subject string `json:"subject"` // as wanted, under the names of the upper end
	Node    string `json:"node"`    // the node that withholds it, under its parent's name for it
	Part    bool   `json:"part,omitempty"`
	Allow   string `json:"allow"` // the capability that its uplink.allow lacks, under its names
}

// withheld returns the wanted subjects that the rules do not permit, or only in part.
func (r *Rules) withheld(wants []string) (out []Withheld) {
	if r.Grants.Administer {
		return nil
	}
	for _, want := range wants {
		if slices.Contains(wants, want+".>") {
			continue // reported for what lies below it
		}
		if w, is := r.withholds(want); is && len(out) < mostWithheld {
			out = append(out, w)
		}
	}
	return out
}

func (r *Rules) withholds(want string) (w Withheld, is bool) {
	for _, way := range r.Naming.Ways() {
		for _, local := range Within([]string{want}, way.To, way.From) {
			places := samplesOf(local)
			may := func(p point.Path) bool { return r.Grants.MaySubscribe(p) == nil }
			if len(places) == 0 || !slices.ContainsFunc(places, func(p point.Path) bool { return !may(p) }) {
				return Withheld{}, false
			}
			if !is {
				is = true
				lacks := identity.Grants{Subscribe: []point.Pattern{patternOf(local)}}
				w = Withheld{Subject: want, Node: r.Self, Allow: lacks.Capabilities()[0]}
			}
			w.Part = w.Part || slices.ContainsFunc(r.Grants.Subscribe, func(p point.Pattern) bool { return meets(p, patternOf(local)) })
		}
	}
	return w, is
}

// pathTokens returns the tokens of the path in a subject with wildcards.
func pathTokens(subject string) []string {
	parts := strings.Split(subject, ".")
	for _, head := range heads() {
		if _, rest := cutHead(parts, head); rest != nil {
			return rest
		}
	}
	return nil
}

// patternOf returns the pattern of the paths of a subject with wildcards.
func patternOf(subject string) point.Pattern {
	var parts []string
	for _, token := range pathTokens(subject) {
		switch token {
		case ">":
			parts = append(parts, "**")
		case "*":
			parts = append(parts, token)
		default:
			parts = append(parts, segmentOf(token))
		}
	}
	return point.Pattern(strings.Join(parts, "/"))
}

func segmentOf(token string) string {
	path, err := wire.ParseSubject("", token)
	if err != nil {
		return token
	}
	return string(path)
}

// unlikely is a segment that only wildcards select.
const unlikely = "\x01"

// samplesOf returns sample paths matched by a subject with wildcards, such that a pattern selects all of them if it
// selects everything that the subject matches.
func samplesOf(subject string) []point.Path {
	pattern := strings.Split(string(patternOf(subject)), "/")
	last := len(pattern) - 1
	for i, segment := range pattern {
		if segment == "*" {
			pattern[i] = unlikely
		}
	}
	if scan := strings.HasPrefix(subject, wire.ScanPrefix); scan && pattern[last] != "**" {
		pattern, last = append(pattern, unlikely), last+1 // a point of the device
	} else if scan {
		pattern, last = slices.Insert(pattern, last, unlikely), last+1
	}
	if pattern[last] != "**" {
		return []point.Path{point.Path(strings.Join(pattern, "/"))}
	}
	var out []point.Path
	for range 3 { // a pattern with stars for one or two segments does not select deeper paths
		pattern[last] = unlikely
		out = append(out, point.Path(strings.Join(pattern, "/")))
		pattern, last = append(pattern, unlikely), last+1
	}
	return out
}

// meets reports whether two patterns may select a common path.
func meets(a, b point.Pattern) bool {
	p, q := strings.Split(string(a.Prefix()), "/"), strings.Split(string(b.Prefix()), "/")
	for i := range min(len(p), len(q)) {
		if p[i] != q[i] && p[i] != "" && q[i] != "" {
			return false
		}
	}
	return true
}

// placed returns what descendants withhold, under the names of the parent, as far as the parent wants it.
func (r *Rules) placed(below []Withheld, wants []string) (out []Withheld) {
	for _, w := range below {
		for _, way := range r.Naming.Ways() {
			for _, subject := range Within([]string{w.Subject}, way.From, way.To) {
				wanted := slices.ContainsFunc(wants, func(want string) bool { return wire.Covers(want, subject) || wire.Covers(subject, want) })
				if wanted && !slices.ContainsFunc(out, func(o Withheld) bool { return o.Node == w.Node && o.Subject == subject }) {
					w.Subject = subject
					out = append(out, w)
				}
			}
		}
	}
	return out
}
