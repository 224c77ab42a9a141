package ingest

import (
	"time"

	"voltbus/point"
)

// maxSeries bounds the cached series, maxCachedFields the fields of all of them.
const (
	maxSeries       = 1 << 16
	maxCachedFields = 1 << 18
	maxSeriesKey    = 4 << 10 // bytes; a longer one is not cached
)

// lineCache caches the paths of series, that is a measurement with tags as written, and of their fields.
// Programs send the same lines repeatedly.
type lineCache struct {
	under  point.Path
	layout *Layout
	known  map[string]*series
	fields int
	built  []byte
}

// series is a measurement with tags, and the fields seen with it.
type series struct {
	key    string
	names  []string
	paths  []point.Path
	next   int            // the field expected next: they come in the same order each time
	index  map[string]int // built when there are many fields
	parsed *origin        // nil until a field is new
}

// many is up to how many fields are searched linearly.
const many = 16

// use sets how paths are formed. The cache is cleared if that has changed.
func (c *lineCache) use(under point.Path, layout *Layout) {
	if c.known == nil || c.under != under || c.layout.text != layout.text || c.fields >= maxCachedFields {
		c.known, c.fields = map[string]*series{}, 0
	}
	c.under, c.layout = under, layout
}

// series returns the cache entry of a series.
func (c *lineCache) series(key []byte) *series {
	if s, ok := c.known[string(key)]; ok {
		s.next = 0
		return s
	}
	s := &series{key: string(key)}
	if len(key) > maxSeriesKey {
		return s
	}
	if len(c.known) >= maxSeries {
		clear(c.known)
		c.fields = 0
	}
	c.known[s.key] = s
	return s
}

// path returns the path of a field.
func (c *lineCache) path(s *series, name []byte) (point.Path, error) {
	if s.next < len(s.names) && s.names[s.next] == string(name) {
		s.next++
		return s.paths[s.next-1], nil
	}
	if i := s.find(name); i >= 0 {
		s.next = i + 1
		return s.paths[i], nil
	}
	return c.make(s, name)
}

func (s *series) find(name []byte) int {
	if s.index != nil {
		if i, ok := s.index[string(name)]; ok {
			return i
		}
		return -1
	}
	for i, n := range s.names {
		if n == string(name) {
			return i
		}
	}
	return -1
}

// make forms the path of a new field.
func (c *lineCache) make(s *series, name []byte) (point.Path, error) {
	if s.parsed == nil {
		o, err := parseOrigin([]byte(s.key))
		if err != nil {
			return "", err
		}
		s.parsed = o
	}
	var err error
	c.built = c.built[:0]
	if c.under != "" {
		c.built = append(append(c.built, c.under...), '/')
	}
	if c.built, err = c.layout.append(c.built, s.parsed, unescape(name)); err != nil {
		return "", err
	}
	path := point.Path(c.built)
	if err := path.Validate(); err != nil {
		return "", err
	}
	if c.fields >= maxCachedFields {
		return path, nil
	}
	c.fields++
	s.names, s.paths = append(s.names, string(name)), append(s.paths, path)
	s.next = len(s.names)
	switch {
	case s.index != nil:
		s.index[s.names[s.next-1]] = s.next - 1
	case s.next > many:
		s.index = make(map[string]int, 2*many)
		for i, n := range s.names {
			s.index[n] = i
		}
	}
	return path, nil
}

// sampleTime converts microseconds to a time.
func sampleTime(us int64) time.Time { return time.UnixMicro(us).UTC() }
