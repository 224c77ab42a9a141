package answer

import "time"

// Person is a person or program that can log in.
type Person struct {
	Name     string    `json:"name"`
	Role     string    `json:"role" api:"schema=Role"`
	Created  time.Time `json:"created"`
	Password bool      `json:"password" doc:"Logs in by name and password"`
	Tokens   int       `json:"tokens" api:"schema=Count"`
	Local    bool      `json:"local" doc:"The local administrator, who cannot be changed"`
}

// People lists everybody who can log in, by name.
type People struct {
	People []Person `json:"people"`
}

// Setup says whether the node still lacks its first administrator.
type Setup struct {
	Needed bool   `json:"needed"`
	Node   string `json:"node" doc:"The node's name"`
}
