package setting

// Access says where a server is and who this node is there: that of a destination, or of what is read from.
type Access struct {
	URL          string
	User         string
	PasswordFile string
	CA           string
	Certificate  string
	Key          string
}

// Access returns where the destination is and who this node is there.
func (s *Sink) Access() Access {
	return Access{URL: s.URL, User: s.User, PasswordFile: s.PasswordFile, CA: s.CA, Certificate: s.Certificate, Key: s.Key}
}

// Check reports what is wrong with the address of a server of a kind of destination, and with what belongs to it.
func (a *Access) Check(kind string, r func(key, format string, args ...any)) {
	s := Sink{Kind: kind, URL: a.URL, User: a.User, PasswordFile: a.PasswordFile, CA: a.CA, Certificate: a.Certificate, Key: a.Key}
	s.validateAddress(r)
}
