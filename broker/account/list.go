package account

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"voltbus/fault"
)

// MostAtOnce is how many devices are added at once.
const MostAtOnce = 200_000

// ParseList reads devices to be added: JSON, a list of objects with name, kind and secret, or CSV with a line that names
// the columns name, kind and secret, of which only name must be there.
func ParseList(text []byte) ([]NewDevice, error) {
	list, err := parse(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\uFEFF"))))
	if err == nil && len(list) == 0 {
		err = errors.New("there are no devices in it")
	}
	if err == nil && len(list) > MostAtOnce {
		err = fmt.Errorf("there are %d devices in it; %d at most at once", len(list), MostAtOnce)
	}
	if err != nil {
		return nil, fault.E("account.ParseList", fault.Invalid, "", err)
	}
	return list, nil
}

func parse(text []byte) (list []NewDevice, err error) {
	if len(text) > 0 && (text[0] == '[' || text[0] == '{') {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&list); err != nil {
			return nil, fmt.Errorf("the list of devices is not JSON as it should be: %w", err)
		}
		return list, nil
	}
	return parseCSV(text)
}

func parseCSV(text []byte) (list []NewDevice, err error) {
	r := csv.NewReader(bytes.NewReader(text))
	r.ReuseRecord, r.TrimLeadingSpace = true, true
	head, err := r.Read()
	if err != nil {
		return nil, errors.New("the list of devices is empty; the first line names the columns: name,kind,secret")
	}
	column := map[string]int{"kind": -1, "secret": -1}
	for i, name := range head {
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "name" && name != "kind" && name != "secret" {
			return nil, fmt.Errorf("the column %q is not known; there are name, kind and secret", clip(name))
		}
		column[name] = i
	}
	if _, is := column["name"]; !is {
		return nil, errors.New("the first line must name the columns, with name among them: name,kind,secret")
	}
	cell := func(record []string, name string) string {
		if i := column[name]; i >= 0 {
			return strings.Clone(strings.TrimSpace(record[i]))
		}
		return ""
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the list of devices: %w", err)
		}
		list = append(list, NewDevice{Name: cell(record, "name"), Kind: cell(record, "kind"), Secret: cell(record, "secret")})
	}
}
