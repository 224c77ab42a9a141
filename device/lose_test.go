package device

// lose has a device lose reports by itself, if somebody listens.
func (p *plant) lose(unit string, n uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.speakers[unit]; s != nil {
		s.lost += n
		s.news()
	}
}

func (s *fullSession) Lost() uint64 {
	p := s.line.plant
	defer p.enter(s.line.name)()
	p.mu.Lock()
	defer p.mu.Unlock()
	n := s.lost
	s.lost = 0
	return n
}
