package register

// Share is the resources taken by a child's points, including removed ones, which remain known.
type Share struct {
	Points int
	Bytes  int64 // of their paths, devices, units, tags and descriptions, counted for each point
}

// Size returns how many bytes the texts of the point have.
func (c *Record) Size() int64 {
	return int64(len(c.Path) + len(c.Device) + len(c.Unit) + len(c.Tags) + len(c.Description))
}

// Share returns what the points of a child take. Call it within Read, or as the writer.
func (r *Register) Share(child string) Share { return r.shares[child] }

// share adds a point to its owner's share, by +1, or removes it, by -1.
func (r *Register) share(c *Record, by int) {
	if c.Child == "" {
		return
	}
	s := r.shares[c.Child]
	s.Points += by
	s.Bytes += int64(by) * c.Size()
	if s.Points == 0 {
		delete(r.shares, c.Child)
		return
	}
	r.shares[c.Child] = s
}
