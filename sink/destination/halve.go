package destination

// Halve finds the rows that a destination refuses, where it says only that something in a request is wrong: it sends halves, until
// single rows are left. The function sends rows in one request, and returns why the request is wrong, "" if it was accepted.
func Halve(rows []Row, send func([]Row) (reason string, err error)) (list []Refusal, err error) {
	return halve(rows, 0, send)
}

func halve(rows []Row, first int, send func([]Row) (string, error)) ([]Refusal, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	reason, err := send(rows)
	if err != nil || reason == "" {
		return nil, err
	}
	if len(rows) == 1 {
		return []Refusal{{first, reason}}, nil
	}
	middle := len(rows) / 2
	left, err := halve(rows[:middle], first, send)
	if err != nil {
		return nil, err
	}
	right, err := halve(rows[middle:], first+middle, send)
	return append(left, right...), err
}
